import { PartitionHistory } from "./partition-history.ts";
import { describeBatch, type SentBatch, type SentBatches } from "./sent-batches.ts";
import { Violation } from "./violation.ts";

/** A message as a reader got it. */
export interface SeenMessage {
  readonly offset: number;
  /** The number its id carries; undefined when the id is none of this run. */
  readonly number: number | undefined;
  /** Whether id and payload are the ones sent under this number. */
  readonly isIntact: boolean;
}

/** What clients know about one topic: every batch sent to it and where it is. */
export class TopicHistory {
  readonly name: string;
  readonly partitions: readonly PartitionHistory[];
  readonly #sent: SentBatches;
  /** Batches whose place is not known yet. */
  readonly #unplaced = new Set<SentBatch>();
  /** The last acknowledged batch of each connection in each partition. */
  readonly #lastOf = new Map<string, SentBatch>();
  #acknowledgedCount = 0;
  #refusedCount = 0;

  constructor(name: string, partitionsCount: number, sent: SentBatches) {
    this.name = name;
    this.partitions = Array.from({ length: partitionsCount }, (_, id) => new PartitionHistory(name, id));
    this.#sent = sent;
  }

  /** Messages acknowledged so far. */
  get acknowledgedCount(): number {
    return this.#acknowledgedCount;
  }

  /** Batches refused so far. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** The partition's history. Throws Violation when the server names one that does not exist. */
  partition(id: number): PartitionHistory {
    const history = this.partitions[id];
    if (history === undefined) throw new Violation("answer", `${this.name} has no partition ${id}`);
    return history;
  }

  /** Notes a batch before it leaves. */
  send(batch: Omit<SentBatch, "topic" | "firstNumber" | "outcome" | "partition" | "baseOffset">): SentBatch {
    const sent = this.#sent.add({ ...batch, topic: this.name });
    this.#unplaced.add(sent);
    return sent;
  }

  /**
   * Notes an acknowledgement.
   *
   * @throws Violation moved, reused or order
   */
  acknowledge(batch: SentBatch, partitionId: number, baseOffset: number): void {
    if (batch.baseOffset >= 0 && (batch.partition !== partitionId || batch.baseOffset !== baseOffset)) {
      const claim = `acknowledged in ${this.name}/${partitionId} at ${baseOffset}`;
      throw new Violation("moved", `${describeBatch(batch)} was seen by a reader and is ${claim}`);
    }
    if (batch.baseOffset < 0) this.#place(batch, partitionId, baseOffset);
    batch.outcome = "acknowledged";
    this.#acknowledgedCount += batch.count;
    this.#checkOrder(batch);
  }

  /** Notes a refusal: nothing of the batch was written, and nothing of it may appear. */
  refuse(batch: SentBatch): void {
    this.#refusedCount += 1;
    batch.outcome = "absent";
    this.#unplaced.delete(batch);
  }

  /** Notes that the connection died before the answer. */
  loseAnswer(batch: SentBatch): void {
    if (batch.outcome === "pending") batch.outcome = "unknown";
  }

  /**
   * Judges one message that a reader got from a partition; `from` and `next` bound what the same read has
   * seen before it.
   *
   * @throws Violation never-sent, altered, moved, doubled, returned or reused
   */
  see(
    partitionId: number,
    message: SeenMessage,
    read: { readonly from: number; readonly next: number },
  ): void {
    const { offset, number } = message;
    const where = `${this.name}/${partitionId} offset ${offset}`;
    const batch = number === undefined ? undefined : this.#sent.batchOf(number);
    if (number === undefined || batch === undefined || batch.topic !== this.name) {
      throw new Violation(
        "never-sent",
        `${where} holds message ${number ?? "of an unknown id"}, never sent there`,
      );
    }
    if (!message.isIntact)
      throw new Violation("altered", `${where}: message ${number} has other bytes than were sent`);
    const baseOffset = offset - (number - batch.firstNumber);
    if (batch.outcome === "absent" || batch.outcome === "removed") {
      throw new Violation("returned", `${where} holds message ${number} of ${describeBatch(batch)}`);
    }
    if (batch.baseOffset < 0) this.#place(batch, partitionId, baseOffset);
    if (batch.partition === partitionId && batch.baseOffset === baseOffset) return;
    const own = batch.baseOffset + (number - batch.firstNumber);
    const isSecond = batch.partition === partitionId && own >= read.from && own < read.next;
    throw new Violation(
      isSecond ? "doubled" : "moved",
      `${where} holds message ${number} of ${describeBatch(batch)}`,
    );
  }

  /**
   * After a restart, when every partition was read to its end: what was not found has not been written and
   * must not appear later, and new offsets lie behind what is known.
   */
  endRound(): void {
    for (const batch of this.#unplaced) batch.outcome = "absent";
    this.#unplaced.clear();
    this.#lastOf.clear();
    for (const partition of this.partitions) partition.raiseFloor();
  }

  /** Notes a purge of all partitions. Nothing of the topic may be on its way meanwhile. */
  purge(): void {
    for (const partition of this.partitions) partition.purge();
    this.#lastOf.clear();
  }

  #place(batch: SentBatch, partitionId: number, baseOffset: number): void {
    this.partition(partitionId).place(batch, baseOffset);
    this.#unplaced.delete(batch);
  }

  /** Batches of one connection must stand in the order they were sent. */
  #checkOrder(batch: SentBatch): void {
    const key = `${batch.writer} ${batch.partition}`;
    const last = this.#lastOf.get(key);
    this.#lastOf.set(key, batch);
    if (last === undefined || last.firstNumber < batch.firstNumber === last.baseOffset < batch.baseOffset)
      return;
    throw new Violation("order", `one connection sent ${describeBatch(last)} and ${describeBatch(batch)}`);
  }
}
