// The eight lanes of a long hash, for engines without vectors. `lanes-simd.ts` does the same with them.
import { LAST_STRIPE_SECRET, MERGE_SECRET, SCRAMBLE_SECRET, SECRET, STRIPES_PER_BLOCK } from "./layout";
import { fold } from "./mixing";
import { P32_1, P32_2, P32_3, P64_1, P64_2, P64_3, P64_4, P64_5 } from "./primes.table";

/** Puts the lanes at their start. */
export function startScalar(lanes: usize): void {
  store<u64>(lanes, P32_3);
  store<u64>(lanes, P64_1, 8);
  store<u64>(lanes, P64_2, 16);
  store<u64>(lanes, P64_3, 24);
  store<u64>(lanes, P64_4, 32);
  store<u64>(lanes, P32_2, 40);
  store<u64>(lanes, P64_5, 48);
  store<u64>(lanes, P32_1, 56);
}

/** Takes a whole block in and scrambles the lanes. */
export function takeBlockScalar(lanes: usize, at: usize): void {
  takeStripes(lanes, at, STRIPES_PER_BLOCK, SECRET);
  for (let offset: usize = 0; offset < 64; offset += 8) {
    const sum = load<u64>(lanes + offset);
    const keyed = sum ^ (sum >> 47) ^ load<u64>(SECRET + SCRAMBLE_SECRET + offset);
    store<u64>(lanes + offset, keyed * P32_1);
  }
}

/** Takes the last, incomplete block `at..end` in. */
export function takeEndScalar(lanes: usize, at: usize, end: usize): void {
  takeStripes(lanes, at, (end - at - 1) >> 6, SECRET);
  takeStripes(lanes, end - 64, 1, SECRET + LAST_STRIPE_SECRET);
}

/** The sum of the four folded pairs of lanes. */
export function mergeScalar(lanes: usize): u64 {
  let sum: u64 = 0;
  for (let offset: usize = 0; offset < 64; offset += 16) {
    const secret = SECRET + MERGE_SECRET + offset;
    const left = load<u64>(lanes + offset) ^ load<u64>(secret);
    sum += fold(left, load<u64>(lanes + offset, 8) ^ load<u64>(secret, 8));
  }
  return sum;
}

/** Takes `stripes` stripes in, pair of lanes after pair, for pairs are independent of each other. */
function takeStripes(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  for (let offset: usize = 0; offset < 64; offset += 16) {
    takePair(lanes + offset, at + offset, stripes, secret + offset);
  }
}

function takePair(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  let even = load<u64>(lanes);
  let odd = load<u64>(lanes, 8);
  for (const end = at + (stripes << 6); at < end; at += 64, secret += 8) {
    const evenData = load<u64>(at);
    const oddData = load<u64>(at, 8);
    const evenKeyed = evenData ^ load<u64>(secret);
    const oddKeyed = oddData ^ load<u64>(secret, 8);
    even += oddData + (evenKeyed & 0xffffffff) * (evenKeyed >> 32);
    odd += evenData + (oddKeyed & 0xffffffff) * (oddKeyed >> 32);
  }
  store<u64>(lanes, even);
  store<u64>(lanes, odd, 8);
}
