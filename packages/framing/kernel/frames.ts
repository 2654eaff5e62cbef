import {
  BATCH_CHECKSUM,
  BATCH_HEADER_LENGTH,
  BATCH_LENGTH,
  FRAME_HEADER_LENGTH,
  FRAME_RESERVED,
  MESSAGE_COUNT,
  PAYLOAD_LENGTH,
  USER_HEADERS_LENGTH,
} from "./batch-format";
import { WINDOW_START } from "./layout";
import { advanceWindow, closeWindowAt, hashAwayUpTo, LAST_U64, openWindow, windowPosition } from "./window";

/** Bytes the frame at `at` spans, or 0 when its header or what it announces runs past `end`. */
export function frameLength(at: usize, end: usize): usize {
  const available = end - at;
  if (available < FRAME_HEADER_LENGTH) return 0;
  const payloadLength = load<u32>(at, PAYLOAD_LENGTH) as u64;
  const length = FRAME_HEADER_LENGTH + payloadLength + (load<u32>(at, USER_HEADERS_LENGTH) as u64);
  return length > (available as u64) ? 0 : (length as usize);
}

/** True when the frame's eight reserved bytes are zero. */
export function isFrameReservedZero(at: usize): bool {
  return load<u64>(at, FRAME_RESERVED) === 0;
}

/** Where the frame `count` frames after the one at `at` begins, or 0 when the batch ends before. */
export function skipFrames(at: usize, end: usize, count: u32): usize {
  for (; count > 0; count--) {
    const length = frameLength(at, end);
    if (length === 0) return 0;
    at += length;
  }
  return at;
}

/** Where the batch at `position` ends, by its header. */
export function batchEnd(position: usize): usize {
  return position + (load<u64>(position, BATCH_LENGTH) as usize);
}

/**
 * Begins a batch checksum with the header's part of it: the bytes before the checksum, then the count.
 * @returns where in the window the frames' checksums go
 */
export function openBatchChecksum(header: usize): usize {
  openWindow();
  memory.copy(WINDOW_START, header, BATCH_CHECKSUM);
  store<u32>(WINDOW_START + BATCH_CHECKSUM, load<u32>(header, MESSAGE_COUNT));
  advanceWindow(BATCH_CHECKSUM + 4);
  return windowPosition();
}

/** Writes the checksum of a header over the frames in `at..end`. False when they do not fill that exactly. */
export function renewBatchChecksum(header: usize, at: usize, end: usize): bool {
  let fill = openBatchChecksum(header);
  while (at < end) {
    const frame = frameLength(at, end);
    if (frame === 0) return false;
    if (fill > LAST_U64) fill = hashAwayUpTo(fill);
    store<u64>(fill, load<u64>(at));
    fill += 8;
    at += frame;
  }
  store<u64>(header, closeWindowAt(fill), BATCH_CHECKSUM);
  return true;
}

/** Where the frames of the batch at `position` begin. */
export function framesStart(position: usize): usize {
  return position + BATCH_HEADER_LENGTH;
}
