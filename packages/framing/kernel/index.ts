// The checksum kernel: XXH3-64 and the walk over a whole batch in one call.
// Built twice, with and without SIMD; `src/checksum/wasm-kernel.ts` is its only caller and checks all ranges.
import {
  BATCH_CHECKSUM,
  BATCH_HEADER_LENGTH,
  BATCH_LENGTH,
  FRAME_ID,
  MALFORMED,
  MESSAGE_COUNT,
} from "./batch-format";
import {
  batchEnd,
  frameLength,
  framesStart,
  openBatchChecksum,
  renewBatchChecksum,
  skipFrames,
} from "./frames";
import { hash } from "./hash";
import { closeWindowAt, hashAwayUpTo, LAST_U64 } from "./window";

export { hash } from "./hash";
export { faultIndex, faultPosition, verifyBatch } from "./verify";
export { advanceWindow, closeWindow, openWindow, windowPosition, windowRoom } from "./window";

/** After `sliceBatch`: where the run begins, and the first byte after it. */
export let runStart: usize = 0;
export let runEnd: usize = 0;

/** Writes the hash of a range at `target`. */
export function hashInto(target: usize, position: usize, length: usize): void {
  store<u64>(target, hash(position, length));
}

/** Copies a range to `target`; they may overlap. */
export function copy(target: usize, position: usize, length: usize): void {
  memory.copy(target, position, length);
}

/** Fills in every frame's checksum and the batch's. 3 when a frame does not fit the batch. */
export function sealBatch(position: usize): i32 {
  const end = batchEnd(position);
  let fill = openBatchChecksum(position);
  for (let at = framesStart(position); at < end; ) {
    const frame = frameLength(at, end);
    if (frame === 0) return MALFORMED;
    const checksum = hash(at + FRAME_ID, frame - FRAME_ID);
    store<u64>(at, checksum);
    if (fill > LAST_U64) fill = hashAwayUpTo(fill);
    store<u64>(fill, checksum);
    fill += 8;
    at += frame;
  }
  store<u64>(position, closeWindowAt(fill), BATCH_CHECKSUM);
  return 0;
}

/** Writes the server's fields and renews the batch checksum; 3 as above. Numbers are whole and below 2^53. */
export function stampBatch(position: usize, partitionId: f64, baseOffset: f64, baseTimestamp: f64): i32 {
  store<u64>(position, partitionId as u64);
  store<u64>(position, baseOffset as u64, 8);
  store<u64>(position, baseTimestamp as u64, 16);
  return renewBatchChecksum(position, framesStart(position), batchEnd(position)) ? 0 : MALFORMED;
}

/** Writes the header of the run of `count` frames from frame `index` on. 3 when the batch has no such run. */
export function sliceBatch(position: usize, index: u32, count: u32, header: usize): i32 {
  const end = batchEnd(position);
  runStart = skipFrames(framesStart(position), end, index);
  if (runStart === 0) return MALFORMED;
  runEnd = skipFrames(runStart, end, count);
  if (runEnd === 0) return MALFORMED;
  memory.copy(header, position, BATCH_HEADER_LENGTH);
  store<u64>(header, (BATCH_HEADER_LENGTH + runEnd - runStart) as u64, BATCH_LENGTH);
  store<u32>(header, count, MESSAGE_COUNT);
  return renewBatchChecksum(header, runStart, runEnd) ? 0 : MALFORMED;
}
