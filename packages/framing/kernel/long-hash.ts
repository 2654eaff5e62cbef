// XXH3-64 of more than 240 bytes: eight lanes take in stripes of 64 bytes, 16 of them make a block. The lanes
// lie in memory between two blocks, so that a hash can go on later (`window.ts`). Which code works on them is
// decided when the kernel is compiled.
import { mergeScalar, startScalar, takeBlockScalar, takeEndScalar } from "./lanes-scalar";
import { mergeSimd, startSimd, takeBlockSimd, takeEndSimd } from "./lanes-simd";
import { FRAME_LANES } from "./layout";
import { avalanche } from "./mixing";
import { P64_1 } from "./primes.table";

/** A block is 1024 bytes. */
const BLOCK_SHIFT: usize = 10;

/** XXH3-64 of more than 240 bytes. */
export function hashLong(at: usize, length: usize): u64 {
  startLanes(FRAME_LANES);
  return finishLanes(FRAME_LANES, at, at + length, length);
}

/** Puts the eight lanes at their start. */
export function startLanes(lanes: usize): void {
  if (ASC_FEATURE_SIMD) startSimd(lanes);
  else startScalar(lanes);
}

/**
 * Takes the whole blocks of `at..end` in, except that at least one byte is left over for `finishLanes`.
 * @returns where what is left over begins
 */
export function takeBlocks(lanes: usize, at: usize, end: usize): usize {
  for (let left = (end - at - 1) >> BLOCK_SHIFT; left > 0; left--) {
    if (ASC_FEATURE_SIMD) takeBlockSimd(lanes, at);
    else takeBlockScalar(lanes, at);
    at += 1 << BLOCK_SHIFT;
  }
  return at;
}

/** Takes the rest of the input in, `at..end`, and makes the hash of all its `length` bytes. */
export function finishLanes(lanes: usize, at: usize, end: usize, length: u64): u64 {
  at = takeBlocks(lanes, at, end);
  if (ASC_FEATURE_SIMD) takeEndSimd(lanes, at, end);
  else takeEndScalar(lanes, at, end);
  const merged: u64 = ASC_FEATURE_SIMD ? mergeSimd(lanes) : mergeScalar(lanes);
  return avalanche(length * P64_1 + merged);
}
