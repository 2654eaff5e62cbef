import { WireError } from "./wire-error.ts";

/** Bytes in front of a frame's payload. */
export const FRAME_HEADER_LENGTH = 48;

/**
 * Places in the frame header. The user headers follow the payload. Eight reserved bytes are zero and
 * verified.
 */
export const FRAME_AT = {
  checksum: 0,
  id: 8,
  offsetDelta: 24,
  timestampDelta: 28,
  userHeadersLength: 32,
  payloadLength: 36,
  reserved: 40,
} as const;

/**
 * Bytes the frame at `position` spans: header (48), payload, user headers.
 *
 * A walk over a batch calls this once per message, so it reads four u32 and allocates nothing.
 *
 * @param batch     bytes that end where the batch ends, borrowed and never written
 * @param position  bytes from the start of `batch`
 * @throws WireError `unexpected_end` when the header or what it announces runs past the batch;
 *                   `reserved_not_zero` when header bytes 40..48 are not zero
 * @see Iggy 0.9.0 core/binary_protocol/src/batch.rs, BatchMessageHeader
 */
export function frameLengthAt(batch: DataView, position: number): number {
  const available = batch.byteLength - position;
  if (available < FRAME_HEADER_LENGTH) throw new WireError("unexpected_end", position);

  const reservedAt = position + FRAME_AT.reserved;
  const reserved = batch.getUint32(reservedAt, true) | batch.getUint32(reservedAt + 4, true);
  if (reserved !== 0) throw new WireError("reserved_not_zero", reservedAt);

  const payloadLength = batch.getUint32(position + FRAME_AT.payloadLength, true);
  const userHeadersLength = batch.getUint32(position + FRAME_AT.userHeadersLength, true);
  const frameLength = FRAME_HEADER_LENGTH + payloadLength + userHeadersLength;
  if (frameLength > available) throw new WireError("unexpected_end", position);
  return frameLength;
}

/** What the frame at `position` adds to its batch's base offset: its index in the batch as it was sent. */
export function offsetDeltaAt(view: DataView, position: number): number {
  return view.getUint32(position + FRAME_AT.offsetDelta, true);
}
