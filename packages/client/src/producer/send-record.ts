import type { CodedError } from "@millrace/errors";

/** Messages of one send that were written next to each other. */
export interface AckRange {
  /** Undefined when the server had committed the batch before and no longer knows where. */
  readonly partitionId: number | undefined;
  /** Offset of the first message; undefined like `partitionId`. */
  readonly offset: bigint | undefined;
  readonly count: number;
}

/** What a send resolves with: where its first message is, and all ranges when batches or keys split it. */
export interface Ack extends AckRange {
  readonly ranges: readonly AckRange[];
}

/** How one call of `send` or `enqueue` stands: how many of its messages are still open, and how they went. */
export class SendRecord {
  #open: number;
  readonly #count: number;
  readonly #ranges: AckRange[] = [];
  #error: CodedError | undefined;
  readonly #onSettled: (error: CodedError | undefined, ack: Ack) => void;

  constructor(count: number, onSettled: (error: CodedError | undefined, ack: Ack) => void) {
    this.#open = count;
    this.#count = count;
    this.#onSettled = onSettled;
  }

  /** Some of its messages were written. */
  confirm(range: AckRange): void {
    this.#ranges.push(range);
    this.#close(range.count);
  }

  /** Some of its messages were not; the first error counts. */
  fail(count: number, error: CodedError): void {
    this.#error ??= error;
    this.#close(count);
  }

  #close(count: number): void {
    this.#open -= count;
    if (this.#open > 0) return;
    const [first] = this.#ranges;
    const place = { partitionId: first?.partitionId, offset: first?.offset };
    this.#onSettled(this.#error, { ...place, count: this.#count, ranges: this.#ranges });
  }
}
