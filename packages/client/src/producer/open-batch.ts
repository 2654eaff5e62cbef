import type { CodedError } from "@millrace/errors";
import { BATCH_HEADER_LENGTH } from "@millrace/framing";
import { ORIGIN_TIMESTAMP_SPREAD_MAX, type Partitioning, type SendConfirmation } from "@millrace/protocol";
import type { PreparedMessage } from "../messages/message.ts";
import type { Receipt } from "./receipts.ts";

/** When a batch counts as full. */
export interface BatchLimits {
  readonly countMax: number;
  /** Bytes, batch header included. A longer message has a batch to itself. */
  readonly lengthMax: number;
}

/** Messages of one receipt; they stand next to each other. */
interface OpenShare {
  readonly receipt: Receipt;
  readonly index: number;
  count: number;
}

/** Messages on their way into one batch, and whose they are. */
export class OpenBatch {
  readonly partitioning: Partitioning;
  readonly messages: PreparedMessage[] = [];
  /** Bytes of the frames. */
  framesLength = 0;
  /** True for the second try of messages whose partition had vanished. */
  readonly isRerouted: boolean;
  readonly #shares: OpenShare[] = [];
  #originMin = Number.POSITIVE_INFINITY;
  #originMax = 0;

  constructor(partitioning: Partitioning, isRerouted = false) {
    this.partitioning = partitioning;
    this.isRerouted = isRerouted;
  }

  /** True when the message can still join: count, length and the spread of origin times allow it. */
  hasRoomFor(message: PreparedMessage, limits: BatchLimits): boolean {
    const { originTimestamp, frameLength } = message;
    const spread = Math.max(this.#originMax, originTimestamp) - Math.min(this.#originMin, originTimestamp);
    return (
      this.messages.length === 0 ||
      (this.messages.length < limits.countMax &&
        BATCH_HEADER_LENGTH + this.framesLength + frameLength <= limits.lengthMax &&
        spread <= ORIGIN_TIMESTAMP_SPREAD_MAX)
    );
  }

  /** Takes a message; `receipt` hears what becomes of it. */
  add(message: PreparedMessage, receipt: Receipt): void {
    const index = this.messages.push(message) - 1;
    this.framesLength += message.frameLength;
    this.#originMin = Math.min(this.#originMin, message.originTimestamp);
    this.#originMax = Math.max(this.#originMax, message.originTimestamp);
    const last = this.#shares.at(-1);
    if (last?.receipt === receipt) last.count += 1;
    else this.#shares.push({ receipt, index, count: 1 });
  }

  /** Every message with its receipt, in order. */
  *entries(): Generator<readonly [PreparedMessage, Receipt]> {
    for (const { receipt, index, count } of this.#shares) {
      for (const message of this.messages.slice(index, index + count)) yield [message, receipt];
    }
  }

  /** Tells every receipt what became of its messages. */
  settle(error: CodedError | undefined, confirmation: SendConfirmation | undefined): void {
    for (const share of this.#shares) {
      if (error === undefined) share.receipt.confirm(share, confirmation);
      else share.receipt.fail(share, error);
    }
  }
}
