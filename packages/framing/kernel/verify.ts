import {
  BAD_BATCH_CHECKSUM,
  BAD_FRAME_CHECKSUM,
  BATCH_CHECKSUM,
  BATCH_HEADER_LENGTH,
  BATCH_LENGTH,
  BATCH_RESERVED,
  FRAME_HEADER_LENGTH,
  FRAME_ID,
  FRAME_RESERVED,
  MALFORMED,
  MESSAGE_COUNT,
  OFFSET_DELTA,
  SAFE_MAX,
} from "./batch-format";
import { batchEnd, frameLength, framesStart, isFrameReservedZero, openBatchChecksum } from "./frames";
import { hash } from "./hash";
import { closeWindowAt, hashAwayUpTo, LAST_U64 } from "./window";

/**
 * After a fault: the frame's index, -1 for the header, and the place in bytes from the start of the batch.
 */
export let faultIndex: i32 = -1;
export let faultPosition: u32 = 0;

/** Checks the batch at `position`, of which `length` bytes are there. 0, or the code it is refused with. */
export function verifyBatch(position: usize, length: usize): i32 {
  const fault = verifyHeader(position, length);
  if (fault !== 0) return fault;
  let fill = openBatchChecksum(position);
  const end = batchEnd(position);
  let at = framesStart(position);
  let index: u32 = 0;
  let firstDelta: u32 = 0;
  while (at < end) {
    const frame = frameLength(at, end);
    if (frame === 0 || !isFrameReservedZero(at)) return frameFault(at, end, at - position, index);
    const stored = load<u64>(at);
    if (hash(at + FRAME_ID, frame - FRAME_ID) !== stored) {
      return refuse(BAD_FRAME_CHECKSUM, index as i32, at - position);
    }
    if (index === 0) firstDelta = load<u32>(at, OFFSET_DELTA);
    else if (load<u32>(at, OFFSET_DELTA) - firstDelta !== index) {
      return refuse(MALFORMED, index as i32, at - position + OFFSET_DELTA);
    }
    if (fill > LAST_U64) fill = hashAwayUpTo(fill);
    store<u64>(fill, stored);
    fill += 8;
    at += frame;
    index++;
  }
  return verifyWhole(position, length, index, closeWindowAt(fill));
}

function verifyHeader(position: usize, length: usize): i32 {
  if (length < BATCH_HEADER_LENGTH) return refuse(MALFORMED, -1, 0);
  for (let field: usize = 0; field <= BATCH_LENGTH; field += 8) {
    if (load<u64>(position + field) > SAFE_MAX) return refuse(MALFORMED, -1, field);
  }
  const batchLength = load<u64>(position, BATCH_LENGTH);
  if (batchLength < BATCH_HEADER_LENGTH) return refuse(MALFORMED, -1, BATCH_LENGTH);
  if (!isReservedZero(position)) return refuse(MALFORMED, -1, BATCH_RESERVED);
  return batchLength > (length as u64) ? refuse(MALFORMED, -1, BATCH_LENGTH) : 0;
}

/** What shows only after the walk: the count, the batch checksum, and that nothing follows the batch. */
function verifyWhole(position: usize, length: usize, frames: u32, checksum: u64): i32 {
  const count = load<u32>(position, MESSAGE_COUNT);
  if (count !== frames) return refuse(MALFORMED, -1, MESSAGE_COUNT);
  if (checksum !== load<u64>(position, BATCH_CHECKSUM)) {
    return refuse(BAD_BATCH_CHECKSUM, -1, BATCH_CHECKSUM);
  }
  if (count === 0) return refuse(MALFORMED, -1, MESSAGE_COUNT);
  return load<u64>(position, BATCH_LENGTH) === (length as u64) ? 0 : refuse(MALFORMED, -1, BATCH_LENGTH);
}

/** A malformed frame: its header is cut off, its reserved bytes are set, or it runs past the batch. */
function frameFault(at: usize, end: usize, place: usize, index: u32): i32 {
  const reservedSet = end - at >= FRAME_HEADER_LENGTH && !isFrameReservedZero(at);
  return refuse(MALFORMED, index as i32, reservedSet ? place + FRAME_RESERVED : place);
}

function isReservedZero(position: usize): bool {
  let seen: u64 = load<u32>(position, BATCH_RESERVED);
  for (let field: usize = BATCH_RESERVED + 4; field < BATCH_HEADER_LENGTH; field += 8) {
    seen |= load<u64>(position + field);
  }
  return seen === 0;
}

function refuse(code: i32, index: i32, place: usize): i32 {
  faultIndex = index;
  faultPosition = place as u32;
  return code;
}
