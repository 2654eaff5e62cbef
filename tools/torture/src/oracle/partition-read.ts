import { describeBatch } from "./sent-batches.ts";
import type { SeenMessage, TopicHistory } from "./topic-history.ts";
import { Violation } from "./violation.ts";

/**
 * One read of a partition from an offset on, message by message: offsets rise, every known message between
 * two seen ones is there, and nothing else is.
 */
export class PartitionRead {
  readonly #topic: TopicHistory;
  readonly #partitionId: number;
  readonly #from: number;
  #next: number;
  #count = 0;

  constructor(topic: TopicHistory, partitionId: number, from: number) {
    this.#topic = topic;
    this.#partitionId = partitionId;
    this.#from = from;
    this.#next = from;
  }

  /** Offset to ask for next. */
  get next(): number {
    return this.#next;
  }

  /** Messages seen. */
  get count(): number {
    return this.#count;
  }

  /** Judges the next message. Throws Violation. */
  see(message: SeenMessage): void {
    const history = this.#topic.partition(this.#partitionId);
    const { offset } = message;
    if (offset < this.#next) {
      const name = `${this.#topic.name}/${this.#partitionId}`;
      const came = this.#count === 0 ? "a read from" : "after";
      throw new Violation(
        "order",
        `${name}: ${came} ${this.#count === 0 ? this.#from : this.#next - 1} came offset ${offset}`,
      );
    }
    if (this.#count === 0 && this.#from <= history.firstRetained) history.trimTo(offset);
    this.#topic.see(this.#partitionId, message, { from: this.#from, next: this.#next });
    // Afterwards, because this message may be the first one seen of a batch whose beginning is missing.
    if (offset > this.#next) this.#checkGap(offset);
    this.#next = offset + 1;
    this.#count += 1;
  }

  /**
   * Judges an empty answer, which means: no more yet. It must agree with the last offset that the same answer
   * states. Only where segments may be deleted can a partition that was written be empty from its start: the
   * active segment holds nothing for a moment after each rotation.
   *
   * @throws Violation answer, or lost when more is gone than deletions explain
   */
  seeNothing(currentOffset: number): void {
    const history = this.#topic.partition(this.#partitionId);
    const isFromStart = this.#count === 0 && this.#from <= history.firstRetained;
    if (isFromStart && currentOffset === 0) return;
    if (isFromStart && history.mayBeTrimmed) {
      history.trimTo(currentOffset + 1);
      return;
    }
    if (this.#next > currentOffset) return;
    const name = `${this.#topic.name}/${this.#partitionId}`;
    const text = `${name}: empty at offset ${this.#next}, though the last offset is ${currentOffset}`;
    throw new Violation("answer", text);
  }

  /** Ends a read that reached the end of the partition, or `end` where it is given. Throws Violation lost. */
  finish(end = Number.POSITIVE_INFINITY): void {
    this.#checkGap(end);
  }

  /** Nothing that is known may lie between the last seen message and `offset`. */
  #checkGap(offset: number): void {
    const missing = this.#topic.partition(this.#partitionId).batchFrom(this.#next);
    if (missing === undefined) return;
    const first = Math.max(missing.baseOffset, this.#next);
    if (first >= offset) return;
    const name = `${this.#topic.name}/${this.#partitionId}`;
    const after = offset === Number.POSITIVE_INFINITY ? "the end" : `offset ${offset}`;
    const text = `${name}: offset ${first} is missing, ${after} comes after ${this.#next - 1}`;
    throw new Violation("lost", `${text}; it belongs to ${describeBatch(missing)}`);
  }
}
