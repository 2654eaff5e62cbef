import { describeBatch, type SentBatch } from "./sent-batches.ts";
import { Violation } from "./violation.ts";

function endOf(batch: SentBatch): number {
  return batch.baseOffset + batch.count;
}

/**
 * What clients know about the offsets of one partition, within one purge generation: which batch stands
 * where, by acknowledgement or because a reader saw it. What is known once must stay.
 */
export class PartitionHistory {
  readonly topic: string;
  readonly partition: number;
  /** Sorted by base offset, never overlapping. */
  #placed: SentBatch[] = [];
  #firstRetained = 0;
  /** No later acknowledgement may lie below; see `raiseFloor`. */
  #floor = 0;
  /** Bytes that deletions of segments may have taken and that were not missed yet. */
  #trimCredit = 0;
  #longestBatch = 0;
  #trimmedCount = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /** First offset that deletions of segments have left; 0 without any. */
  get firstRetained(): number {
    return this.#firstRetained;
  }

  /** Behind the last known offset. */
  get end(): number {
    const last = this.#placed.at(-1);
    return last === undefined ? this.#firstRetained : endOf(last);
  }

  /** End at the last time everything was read. */
  get floor(): number {
    return this.#floor;
  }

  /** Batches known now. */
  get placed(): readonly SentBatch[] {
    return this.#placed;
  }

  /** True once deletions of segments may take its first batches. */
  get mayBeTrimmed(): boolean {
    return this.#trimCredit > 0 || this.#firstRetained > 0;
  }

  /** Messages that deletions of segments have removed. */
  get trimmedCount(): number {
    return this.#trimmedCount;
  }

  /**
   * Notes that a batch stands at `baseOffset`.
   *
   * @throws Violation reused when another batch is known there, or when the offset lies below what was
   * known before
   */
  place(batch: SentBatch, baseOffset: number): void {
    const index = this.#indexFrom(baseOffset);
    const there = this.#placed[index];
    if (there !== undefined && there.baseOffset < baseOffset + batch.count) {
      const where = `${this.#name} offset ${Math.max(baseOffset, there.baseOffset)}`;
      throw new Violation(
        "reused",
        `${where} was given to ${describeBatch(there)} and to ${describeBatch(batch)}`,
      );
    }
    if (baseOffset < this.#floor) {
      const known = `offsets below ${this.#floor} were given out in earlier rounds`;
      throw new Violation(
        "reused",
        `${this.#name}: ${describeBatch(batch)} is at ${baseOffset}, but ${known}`,
      );
    }
    batch.partition = this.partition;
    batch.baseOffset = baseOffset;
    this.#longestBatch = Math.max(this.#longestBatch, batch.length);
    this.#placed.splice(index, 0, batch);
  }

  /** The first batch that reaches beyond `offset`, or undefined when nothing is known from there on. */
  batchFrom(offset: number): SentBatch | undefined {
    return this.#placed[this.#indexFrom(offset)];
  }

  /** After everything was read: new batches must lie behind all that is known now. */
  raiseFloor(): void {
    this.#floor = this.end;
  }

  /** Notes that a deletion of `segmentsCount` segments of at most `segmentLength` bytes was asked for. */
  allowTrim(segmentsCount: number, segmentLength: number): void {
    // A segment closes with the first batch that reaches its length, so it may exceed it by one batch.
    this.#trimCredit += segmentsCount * (segmentLength + this.#longestBatch);
  }

  /**
   * Notes that a read from the start began at `offset`: everything before it is gone for good.
   *
   * @throws Violation lost when no deletion of segments explains it
   */
  trimTo(offset: number): void {
    let length = 0;
    let count = 0;
    for (const batch of this.#placed) {
      if (batch.baseOffset >= offset) break;
      if (endOf(batch) > offset) {
        throw new Violation("lost", `${this.#name} begins at ${offset}, inside ${describeBatch(batch)}`);
      }
      length += batch.length;
      count += 1;
    }
    if (length > this.#trimCredit) {
      const allowed = `deletions of segments explain at most ${this.#trimCredit} bytes`;
      throw new Violation("lost", `${this.#name} begins at ${offset}: ${length} bytes are gone, ${allowed}`);
    }
    this.#trimCredit -= length;
    for (const batch of this.#placed.splice(0, count)) {
      batch.outcome = "removed";
      this.#trimmedCount += batch.count;
    }
    this.#firstRetained = Math.max(this.#firstRetained, offset);
  }

  /** Notes a purge: everything is gone, and offsets begin again at 0. */
  purge(): void {
    for (const batch of this.#placed) batch.outcome = "removed";
    this.#placed = [];
    this.#firstRetained = 0;
    this.#floor = 0;
    this.#trimCredit = 0;
  }

  get #name(): string {
    return `${this.topic}/${this.partition}`;
  }

  /** Index of the first batch that ends beyond `offset`. */
  #indexFrom(offset: number): number {
    let low = 0;
    let high = this.#placed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (endOf(this.#placed[middle] as SentBatch) > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
