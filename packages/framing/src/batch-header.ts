import { assert } from "@millrace/errors";
import { setU64, setU64Number, u64NumberAt, viewOf } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/** Bytes of the header in front of a batch's frames. */
export const BATCH_HEADER_LENGTH = 256;

/** Places in the batch header. Bytes from `reserved` to 256 are zero and verified. */
export const BATCH_AT = {
  partitionId: 0,
  baseOffset: 8,
  baseTimestamp: 16,
  originTimestamp: 24,
  batchLength: 32,
  batchChecksum: 40,
  messageCount: 48,
  reserved: 52,
} as const;

/**
 * What stands before the frames. Timestamps are micros; `batchLength` counts header and frames.
 *
 * Message i of the original batch has offset `baseOffset + offsetDelta`, time `baseTimestamp`, and origin
 * time `originTimestamp + timestampDelta`.
 */
export interface BatchHeader {
  readonly partitionId: number;
  readonly baseOffset: number;
  readonly baseTimestamp: number;
  readonly originTimestamp: number;
  readonly batchLength: number;
  readonly batchChecksum: bigint;
  readonly messageCount: number;
}

/** Partition of the batch at `position`; 0 until the server stamps it. */
export function partitionIdAt(view: DataView, position: number): number {
  return u64NumberAt(view, position + BATCH_AT.partitionId);
}

/** Offset of the original batch's first message; 0 until the server stamps it. */
export function baseOffsetAt(view: DataView, position: number): number {
  return u64NumberAt(view, position + BATCH_AT.baseOffset);
}

/** Server time of every message in the batch, micros; 0 until the server stamps it. */
export function baseTimestampAt(view: DataView, position: number): number {
  return u64NumberAt(view, position + BATCH_AT.baseTimestamp);
}

/** Smallest origin time of the batch's messages, micros. */
export function originTimestampAt(view: DataView, position: number): number {
  return u64NumberAt(view, position + BATCH_AT.originTimestamp);
}

/** Bytes of the batch, header included. Unchecked; a value above 2^53 comes rounded but stays above it. */
export function batchLengthAt(view: DataView, position: number): number {
  return u64NumberAt(view, position + BATCH_AT.batchLength);
}

/** XXH3-64 over the header's first 40 bytes, the count, and every frame's checksum. */
export function batchChecksumAt(view: DataView, position: number): bigint {
  return view.getBigUint64(position + BATCH_AT.batchChecksum, true);
}

/** Number of frames. */
export function messageCountAt(view: DataView, position: number): number {
  return view.getUint32(position + BATCH_AT.messageCount, true);
}

/**
 * Reads the batch header at `position`; the frames need not be there.
 * @throws WireError `unexpected_end`; `bad_value` for a number above 2^53 - 1; `bad_length` when the batch is
 *                   shorter than its header; `reserved_not_zero`
 */
export function decodeBatchHeader(bytes: Uint8Array, position = 0): BatchHeader {
  if (bytes.byteLength - position < BATCH_HEADER_LENGTH) throw new WireError("unexpected_end", position);
  const view = viewOf(bytes);
  const header: BatchHeader = {
    partitionId: safeU64At(view, position + BATCH_AT.partitionId),
    baseOffset: safeU64At(view, position + BATCH_AT.baseOffset),
    baseTimestamp: safeU64At(view, position + BATCH_AT.baseTimestamp),
    originTimestamp: safeU64At(view, position + BATCH_AT.originTimestamp),
    batchLength: safeU64At(view, position + BATCH_AT.batchLength),
    batchChecksum: batchChecksumAt(view, position),
    messageCount: messageCountAt(view, position),
  };
  const reserved = bytes.subarray(position + BATCH_AT.reserved, position + BATCH_HEADER_LENGTH);
  if (header.batchLength < BATCH_HEADER_LENGTH)
    throw new WireError("bad_length", position + BATCH_AT.batchLength);
  if (reserved.some((byte) => byte !== 0))
    throw new WireError("reserved_not_zero", position + BATCH_AT.reserved);
  return header;
}

/** Writes a batch header at `position` of `target`, reserved bytes as zero. */
export function encodeBatchHeader(target: Uint8Array, position: number, header: BatchHeader): void {
  const end = position + BATCH_HEADER_LENGTH;
  assert(end <= target.byteLength, "a batch header's target holds 256 bytes");
  writeBatchHeader(viewOf(target), position, header);
}

/** The same through a view over the target, which holds 256 bytes at `position`. */
export function writeBatchHeader(view: DataView, position: number, header: BatchHeader): void {
  setU64Number(view, position + BATCH_AT.partitionId, header.partitionId);
  setU64Number(view, position + BATCH_AT.baseOffset, header.baseOffset);
  setU64Number(view, position + BATCH_AT.baseTimestamp, header.baseTimestamp);
  setU64Number(view, position + BATCH_AT.originTimestamp, header.originTimestamp);
  setU64Number(view, position + BATCH_AT.batchLength, header.batchLength);
  setU64(view, position + BATCH_AT.batchChecksum, header.batchChecksum);
  view.setUint32(position + BATCH_AT.messageCount, header.messageCount, true);
  clearReserved(view, position + BATCH_AT.reserved, position + BATCH_HEADER_LENGTH);
}

/** In JavaScript, which the compiler takes into its caller: `fill` is a call into the engine. */
function clearReserved(view: DataView, start: number, end: number): void {
  let at = start;
  for (; at + 8 <= end; at += 8) view.setFloat64(at, 0);
  for (; at < end; at++) view.setUint8(at, 0);
}

function safeU64At(view: DataView, at: number): number {
  const value = u64NumberAt(view, at);
  if (value > Number.MAX_SAFE_INTEGER) throw new WireError("bad_value", at);
  return value;
}
