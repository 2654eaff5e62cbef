/**
 * What is known about a batch: no answer yet; acknowledged; the connection died first; known not to have
 * been written; removed by a purge or a deletion of segments.
 */
export type BatchOutcome = "pending" | "acknowledged" | "unknown" | "absent" | "removed";

/** One batch a writer sent. Its messages carry the numbers from `firstNumber` on and keep together. */
export interface SentBatch {
  readonly topic: string;
  readonly writer: string;
  readonly round: number;
  readonly firstNumber: number;
  readonly count: number;
  /** Bytes on the wire. */
  readonly length: number;
  outcome: BatchOutcome;
  /** Where it is, once an acknowledgement or a reader said so; -1 before. */
  partition: number;
  baseOffset: number;
}

/** What a writer says about a batch when it sends it. */
export type NewBatch = Pick<SentBatch, "topic" | "writer" | "round" | "count" | "length">;

/** Every batch of a run. Numbers are given out once, so that a message is known by its number alone. */
export class SentBatches {
  readonly #batches: SentBatch[] = [];
  #nextNumber = 0;

  /** The number the next batch begins with. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  /** Notes a batch before it is sent. */
  add(batch: NewBatch): SentBatch {
    const sent: SentBatch = {
      ...batch,
      firstNumber: this.#nextNumber,
      outcome: "pending",
      partition: -1,
      baseOffset: -1,
    };
    this.#nextNumber += batch.count;
    this.#batches.push(sent);
    return sent;
  }

  /** The batch that holds message `number`, or undefined when nobody sent such a message. */
  batchOf(number: number): SentBatch | undefined {
    if (number < 0 || number >= this.#nextNumber) return undefined;
    let low = 0;
    let high = this.#batches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#batches[middle] as SentBatch).firstNumber <= number) low = middle;
      else high = middle - 1;
    }
    return this.#batches[low];
  }
}

/** A batch as a violation names it. */
export function describeBatch(batch: SentBatch): string {
  const { firstNumber, count, writer, round, outcome, partition, baseOffset } = batch;
  const place =
    baseOffset < 0
      ? "nowhere yet"
      : `partition ${partition} offsets ${baseOffset}..${baseOffset + count - 1}`;
  return `batch of messages ${firstNumber}..${firstNumber + count - 1} (${writer}, round ${round}, ${outcome}, ${place})`;
}
