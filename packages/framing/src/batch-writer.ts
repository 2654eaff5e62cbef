import { assert, CodedError, ErrorCode } from "@millrace/errors";
import { BATCH_HEADER_LENGTH, writeBatchHeader } from "./batch-header.ts";
import { FRAME_AT, FRAME_HEADER_LENGTH } from "./frame-header.ts";
import { setU128, viewOf } from "./wide-integer.ts";

/** A timestamp delta is a u32: one batch spans at most about 71 minutes of origin time. */
const TIMESTAMP_DELTA_MAX = 0xffff_ffff;

/** A message on its way out. `id` left out is 0; `userHeaders` come from `encodeTypedFields`. */
export interface OutgoingMessage {
  readonly id?: bigint;
  readonly payload: Uint8Array;
  readonly userHeaders?: Uint8Array;
  /** Micros since 1970; left out, the batch's own. */
  readonly originTimestamp?: number;
}

/** Bytes of the batch these messages make, header included. */
export function batchLengthOf(messages: readonly OutgoingMessage[]): number {
  let length = BATCH_HEADER_LENGTH;
  for (const message of messages) length += frameLengthOf(message);
  return length;
}

/**
 * Writes an unsealed batch, all its checksums zero, into `target` at `position`; `sealBatch` completes it.
 *
 * Payloads and headers are copied. `originTimestamp` (micros) is the smallest of the messages' own.
 * @returns the batch's length, as `batchLengthOf` gives it; `target` must hold that many bytes
 * @throws CodedError InvalidMessagesCount for no messages; InvalidMessageTimestampDelta when a message is
 *                    older than `originTimestamp` or more than 2^32-1 micros younger
 */
export function writeBatch(
  target: Uint8Array,
  position: number,
  messages: readonly OutgoingMessage[],
  originTimestamp: number,
): number {
  const batchLength = batchLengthOf(messages);
  assert(position + batchLength <= target.byteLength, "a batch's target holds the whole batch");
  if (messages.length === 0) throw new CodedError(ErrorCode.InvalidMessagesCount, "A batch needs a message.");

  const view = viewOf(target);
  writeBatchHeader(view, position, {
    partitionId: 0,
    baseOffset: 0,
    baseTimestamp: 0,
    originTimestamp,
    batchLength,
    batchChecksum: 0n,
    messageCount: messages.length,
  });
  let at = position + BATCH_HEADER_LENGTH;
  for (const [index, message] of messages.entries()) {
    writeFrameHeader(view, at, message, index, originTimestamp);
    target.set(message.payload, at + FRAME_HEADER_LENGTH);
    const { userHeaders } = message;
    if (userHeaders) target.set(userHeaders, at + FRAME_HEADER_LENGTH + message.payload.byteLength);
    at += frameLengthOf(message);
  }
  return batchLength;
}

/** Most messages bring no id: halving a bigint for each would cost more than the rest of the header. */
function clearId(view: DataView, position: number): void {
  view.setFloat64(position, 0);
  view.setFloat64(position + 8, 0);
}

function writeFrameHeader(
  view: DataView,
  at: number,
  message: OutgoingMessage,
  index: number,
  originTimestamp: number,
): void {
  const timestampDelta = (message.originTimestamp ?? originTimestamp) - originTimestamp;
  if (!(timestampDelta >= 0 && timestampDelta <= TIMESTAMP_DELTA_MAX)) {
    throw new CodedError(
      ErrorCode.InvalidMessageTimestampDelta,
      "Origin timestamps of one batch lie at most 2^32-1 microseconds after the batch's own.",
      { details: { index, timestampDelta, timestampDeltaMax: TIMESTAMP_DELTA_MAX } },
    );
  }
  view.setBigUint64(at + FRAME_AT.checksum, 0n, true);
  if (message.id) setU128(view, at + FRAME_AT.id, message.id);
  else clearId(view, at + FRAME_AT.id);
  view.setUint32(at + FRAME_AT.offsetDelta, index, true);
  view.setUint32(at + FRAME_AT.timestampDelta, timestampDelta, true);
  view.setUint32(at + FRAME_AT.userHeadersLength, message.userHeaders?.byteLength ?? 0, true);
  view.setUint32(at + FRAME_AT.payloadLength, message.payload.byteLength, true);
  view.setBigUint64(at + FRAME_AT.reserved, 0n, true);
}

function frameLengthOf(message: OutgoingMessage): number {
  return FRAME_HEADER_LENGTH + message.payload.byteLength + (message.userHeaders?.byteLength ?? 0);
}
