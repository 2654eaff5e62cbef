import type { Partitioning } from "@millrace/protocol";
import type { PreparedMessage } from "../messages/message.ts";
import { type BatchLimits, OpenBatch } from "./open-batch.ts";
import type { Receipt } from "./receipts.ts";

/** Stands for the producer's own partitioning where a partition's id would. */
const OWN_PARTITIONING = -1;

/** Batches that did not leave yet: full ones first, then those that still grow, one for each partition. */
export class OpenBatches {
  readonly #partitioning: Partitioning;
  readonly #limits: BatchLimits;
  readonly #growing = new Map<number, OpenBatch>();
  #full: OpenBatch[] = [];
  /** Those that grow need not wait any longer. */
  #isOverdue = false;

  /** @param partitioning  where messages without a partition of their own go */
  constructor(partitioning: Partitioning, limits: BatchLimits) {
    this.#partitioning = partitioning;
    this.#limits = limits;
  }

  /** True while some wait for company. */
  get isWaiting(): boolean {
    return !this.#isOverdue && this.#growing.size > 0;
  }

  /** Adds a message; `receipt` hears what becomes of it. */
  add(message: PreparedMessage, receipt: Receipt, partitionId = OWN_PARTITIONING): void {
    let batch = this.#growing.get(partitionId);
    if (batch !== undefined && !batch.hasRoomFor(message, this.#limits)) {
      this.#full.push(batch);
      batch = undefined;
    }
    if (batch === undefined) {
      const isOwn = partitionId === OWN_PARTITIONING;
      batch = new OpenBatch(isOwn ? this.#partitioning : { kind: "partition", partitionId });
      this.#growing.set(partitionId, batch);
    }
    batch.add(message, receipt);
    if (batch.messages.length < this.#limits.countMax) return;
    this.#full.push(batch);
    this.#growing.delete(partitionId);
  }

  /** Those that grow now leave as soon as they are taken. */
  endWaiting(): void {
    this.#isOverdue = this.#growing.size > 0;
  }

  /** The next batch to leave, or nothing while the others may wait. */
  take(): OpenBatch | undefined {
    const full = this.#full.shift();
    if (full !== undefined || !this.#isOverdue) return full;
    for (const [partitionId, batch] of this.#growing) {
      this.#growing.delete(partitionId);
      this.#isOverdue = this.#growing.size > 0;
      return batch;
    }
    return undefined;
  }

  /** Batches that go again leave before all others. */
  putFirst(batches: readonly OpenBatch[]): void {
    this.#full.unshift(...batches);
  }
}
