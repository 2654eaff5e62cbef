import { accumulateScalar, scrambleScalar, startScalar } from "./lanes-scalar";
import { accumulateSimd, scrambleSimd, startSimd } from "./lanes-simd";
import { FRAME_LANES, SECRET } from "./layout";
import { avalanche, fold } from "./mixing";
import { P64_1 } from "./primes.table";

/** 16 stripes of 64 bytes; the lanes are scrambled after each. */
const BLOCK_SHIFT: usize = 10;
const STRIPES_PER_BLOCK: usize = 16;

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

/** Takes whole blocks in. At least one byte of the input must follow the last of them. */
export function hashBlocks(lanes: usize, at: usize, blocks: usize): void {
  for (; blocks > 0; blocks--) {
    accumulate(lanes, at, STRIPES_PER_BLOCK, SECRET);
    if (ASC_FEATURE_SIMD) scrambleSimd(lanes);
    else scrambleScalar(lanes);
    at += 1 << BLOCK_SHIFT;
  }
}

/** Takes the rest of the input in, `at..end`, and makes the hash of all its `length` bytes. */
export function finishLanes(lanes: usize, at: usize, end: usize, length: u64): u64 {
  const blocks = (end - at - 1) >> BLOCK_SHIFT;
  hashBlocks(lanes, at, blocks);
  at += blocks << BLOCK_SHIFT;
  accumulate(lanes, at, (end - at - 1) >> 6, SECRET);
  accumulate(lanes, end - 64, 1, SECRET + 121);
  let sum: u64 = length * P64_1;
  for (let offset: usize = 0; offset < 64; offset += 16) {
    const secret = SECRET + 11 + offset;
    sum += fold(
      load<u64>(lanes + offset) ^ load<u64>(secret),
      load<u64>(lanes + offset, 8) ^ load<u64>(secret, 8),
    );
  }
  return avalanche(sum);
}

function accumulate(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  if (ASC_FEATURE_SIMD) accumulateSimd(lanes, at, stripes, secret);
  else accumulateScalar(lanes, at, stripes, secret);
}
