import type { CodedError } from "@millrace/errors";
import { BATCH_HEADER_LENGTH } from "@millrace/framing";
import { ORIGIN_TIMESTAMP_SPREAD_MAX, type Partitioning, type SendConfirmation } from "@millrace/protocol";
import type { PreparedMessage } from "../messages/message.ts";
import type { SendRecord } from "./send-record.ts";

/** When a batch counts as full. */
export interface BatchLimits {
  readonly countMax: number;
  /** Bytes, batch header included. A longer message has a batch to itself. */
  readonly lengthMax: number;
}

/** Messages of one send inside one batch; they stand next to each other. */
interface Share {
  readonly record: SendRecord;
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
  readonly #shares: Share[] = [];
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

  /** Takes a message of the send that `record` stands for. */
  add(message: PreparedMessage, record: SendRecord): void {
    this.messages.push(message);
    this.framesLength += message.frameLength;
    this.#originMin = Math.min(this.#originMin, message.originTimestamp);
    this.#originMax = Math.max(this.#originMax, message.originTimestamp);
    const last = this.#shares.at(-1);
    if (last?.record === record) last.count += 1;
    else this.#shares.push({ record, count: 1 });
  }

  /** Every message with the record of its send, in order. */
  *entries(): Generator<readonly [PreparedMessage, SendRecord]> {
    let index = 0;
    for (const { record, count } of this.#shares) {
      for (const end = index + count; index < end; index += 1) {
        yield [this.messages[index] as PreparedMessage, record];
      }
    }
  }

  /** Tells every send what became of its messages. */
  settle(error: CodedError | undefined, confirmation: SendConfirmation | undefined): void {
    let index = 0;
    for (const { record, count } of this.#shares) {
      if (error !== undefined) record.fail(count, error);
      else {
        const offset = confirmation === undefined ? undefined : BigInt(confirmation.baseOffset + index);
        record.confirm({ partitionId: confirmation?.partitionId, offset, count });
      }
      index += count;
    }
  }
}
