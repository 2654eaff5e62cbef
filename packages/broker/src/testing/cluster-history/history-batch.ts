import assert from "node:assert/strict";
import type { SendConfirmation } from "@millrace/protocol";
import type { Sending, TopicOracle } from "./history-oracle.ts";
import type { SentMessage } from "./history-order.ts";

/** A batch that is sent, to one partition or to one of several, which the cluster takes in turn. */
export class SentBatch {
  readonly texts: readonly string[];
  readonly #partitions: readonly TopicOracle[];
  #sendings: readonly Sending[] = [];
  #isAcknowledged = false;

  constructor(texts: readonly string[], partitions: readonly TopicOracle[]) {
    this.texts = texts;
    this.#partitions = partitions;
  }

  /** It is about to be sent for the first time. */
  sending(by: Pick<SentMessage, "producer" | "turn" | "sentMs">): void {
    this.#sendings = this.#partitions.map((partition) => partition.sending(this.texts, by));
  }

  /**
   * It is stored. A repetition may be answered without saying where.
   *
   * @returns the partition that has it, where that is known
   */
  acknowledged(confirmation: SendConfirmation | undefined): TopicOracle | undefined {
    this.#isAcknowledged = true;
    const isOnly = this.#partitions.length === 1;
    const at = isOnly
      ? 0
      : this.#partitions.findIndex((one) => one.partitionId === confirmation?.partitionId);
    assert.ok(at >= 0 || confirmation === undefined, `${this.texts} is in a partition of its topic`);
    const [partition, sending] = [this.#partitions[at], this.#sendings[at]];
    if (partition === undefined || sending === undefined) return undefined;
    assert.equal(confirmation?.partitionId ?? partition.partitionId, partition.partitionId);
    partition.acknowledged(this.texts, confirmation?.baseOffset, sending);
    return partition;
  }

  /** When all has come to rest it is in one partition at most; in one, if that was said and nobody purges. */
  finally(): void {
    const [first] = this.#partitions;
    if (first?.state !== "kept") return;
    for (const text of this.texts) {
      const holders = this.#partitions.filter((one) => one.holds(text)).map(({ label }) => label);
      assert.ok(holders.length <= 1, `${text} is stored once, not in each of ${holders}`);
      const isMissing = this.#isAcknowledged && first.isPermanent && holders.length === 0;
      assert.ok(!isMissing, `acknowledged ${text} is in a partition of ${first.name}`);
    }
  }
}
