import type { CodedError } from "@millrace/errors";
import type { SendConfirmation } from "@millrace/protocol";

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

/** Some messages of one receipt inside one batch: `count` from the batch's message `index` on. */
export interface Share {
  readonly index: number;
  readonly count: number;
}

/** Who hears what became of messages. Every message is told about once. */
export interface Receipt {
  /** Written; without a confirmation the server had written them before and no longer knows where. */
  confirm(share: Share, confirmation: SendConfirmation | undefined): void;
  fail(share: Pick<Share, "count">, error: CodedError): void;
}

/**
 * Messages accepted between two flushes: how many are still open, and the first error. It is the receipt of
 * messages nobody awaits one by one, so that they cost no object each.
 */
export class FlushEpoch implements Receipt {
  openCount = 0;
  firstError: CodedError | undefined;

  confirm({ count }: Share): void {
    this.openCount -= count;
  }

  fail({ count }: Pick<Share, "count">, error: CodedError): void {
    this.openCount -= count;
    this.firstError ??= error;
  }
}

/** The receipt of one `send`: settles its promise when the last of its messages was told about. */
export class SendReceipt implements Receipt {
  readonly #epoch: FlushEpoch;
  readonly #count: number;
  readonly #onSettled: (error: CodedError | undefined, ack: Ack) => void;
  readonly #ranges: AckRange[] = [];
  #open: number;
  #error: CodedError | undefined;

  constructor(
    epoch: FlushEpoch,
    count: number,
    onSettled: (error: CodedError | undefined, ack: Ack) => void,
  ) {
    this.#epoch = epoch;
    this.#count = count;
    this.#open = count;
    this.#onSettled = onSettled;
  }

  confirm(share: Share, confirmation: SendConfirmation | undefined): void {
    const offset = confirmation === undefined ? undefined : BigInt(confirmation.baseOffset + share.index);
    this.#ranges.push({ partitionId: confirmation?.partitionId, offset, count: share.count });
    this.#epoch.confirm(share);
    this.#close(share.count);
  }

  fail(share: Pick<Share, "count">, error: CodedError): void {
    this.#error ??= error;
    this.#epoch.fail(share, error);
    this.#close(share.count);
  }

  #close(count: number): void {
    this.#open -= count;
    if (this.#open > 0) return;
    const [first] = this.#ranges;
    this.#onSettled(this.#error, {
      partitionId: first?.partitionId,
      offset: first?.offset,
      count: this.#count,
      ranges: this.#ranges,
    });
  }
}
