// The eight lanes of a long hash as four vectors of two. `lanes-scalar.ts` does the same without vectors.
import { LAST_STRIPE_SECRET, MERGE_SECRET, SCRAMBLE_SECRET, SECRET, STRIPES_PER_BLOCK } from "./layout";
import { P32_1, P32_2, P32_3, P64_1, P64_2, P64_3, P64_4, P64_5 } from "./primes.table";

/** Puts the lanes at their start. In whole vectors: one is not loaded fast out of two narrow stores. */
export function startSimd(lanes: usize): void {
  v128.store(lanes, i64x2(P32_3, P64_1));
  v128.store(lanes, i64x2(P64_2, P64_3), 16);
  v128.store(lanes, i64x2(P64_4, P32_2), 32);
  v128.store(lanes, i64x2(P64_5, P32_1), 48);
}

/** Takes a whole block in and scrambles the lanes. */
export function takeBlockSimd(lanes: usize, at: usize): void {
  takeStripes(lanes, at, STRIPES_PER_BLOCK, 0);
  const prime = i64x2.splat(P32_1);
  for (let offset: usize = 0; offset < 64; offset += 16) {
    const sum = v128.load(lanes + offset);
    const keyed = v128.xor(v128.xor(sum, i64x2.shr_u(sum, 47)), v128.load(SECRET + SCRAMBLE_SECRET + offset));
    v128.store(lanes + offset, i64x2.mul(keyed, prime));
  }
}

/** Takes the last, incomplete block `at..end` in. */
export function takeEndSimd(lanes: usize, at: usize, end: usize): void {
  takeStripes(lanes, at, (end - at - 1) >> 6, end - 64);
}

/** The sum of the four folded pairs of lanes. */
export function mergeSimd(lanes: usize): u64 {
  return (
    mergePairs(v128.load(lanes), v128.load(lanes, 16), SECRET + MERGE_SECRET) +
    mergePairs(v128.load(lanes, 32), v128.load(lanes, 48), SECRET + MERGE_SECRET + 32)
  );
}

/**
 * Takes `stripes` stripes in, the secret moving on by 8 bytes each; then, unless it is 0, the stripe at
 * `lastStripe` with the secret's own words for it. In one loop, so that the lanes stay in registers.
 */
function takeStripes(lanes: usize, at: usize, stripes: usize, lastStripe: usize): void {
  let product0 = v128.load(lanes);
  let product1 = v128.load(lanes, 16);
  let product2 = v128.load(lanes, 32);
  let product3 = v128.load(lanes, 48);
  // The input itself is added to the neighbour of its lane: summed up apart, it changes places once at the
  // end.
  let plain0 = i64x2.splat(0);
  let plain1 = i64x2.splat(0);
  let plain2 = i64x2.splat(0);
  let plain3 = i64x2.splat(0);
  let secret = SECRET;
  for (let left = stripes; ; left--, at += 64, secret += 8) {
    if (left === 0) {
      if (lastStripe === 0) break;
      at = lastStripe;
      secret = SECRET + LAST_STRIPE_SECRET;
      lastStripe = 0;
      left = 1;
    }
    const data0 = v128.load(at);
    const data1 = v128.load(at, 16);
    const data2 = v128.load(at, 32);
    const data3 = v128.load(at, 48);
    const keyed0 = v128.xor(data0, v128.load(secret));
    const keyed1 = v128.xor(data1, v128.load(secret, 16));
    const keyed2 = v128.xor(data2, v128.load(secret, 32));
    const keyed3 = v128.xor(data3, v128.load(secret, 48));
    // Low and high halves of four lanes side by side, so that one shuffle serves two multiplications.
    const low01 = v128.shuffle<u32>(keyed0, keyed1, 0, 2, 4, 6);
    const high01 = v128.shuffle<u32>(keyed0, keyed1, 1, 3, 5, 7);
    const low23 = v128.shuffle<u32>(keyed2, keyed3, 0, 2, 4, 6);
    const high23 = v128.shuffle<u32>(keyed2, keyed3, 1, 3, 5, 7);
    product0 = i64x2.add(product0, i64x2.extmul_low_i32x4_u(low01, high01));
    product1 = i64x2.add(product1, i64x2.extmul_high_i32x4_u(low01, high01));
    product2 = i64x2.add(product2, i64x2.extmul_low_i32x4_u(low23, high23));
    product3 = i64x2.add(product3, i64x2.extmul_high_i32x4_u(low23, high23));
    plain0 = i64x2.add(plain0, data0);
    plain1 = i64x2.add(plain1, data1);
    plain2 = i64x2.add(plain2, data2);
    plain3 = i64x2.add(plain3, data3);
  }
  v128.store(lanes, i64x2.add(product0, swapped(plain0)));
  v128.store(lanes, i64x2.add(product1, swapped(plain1)), 16);
  v128.store(lanes, i64x2.add(product2, swapped(plain2)), 32);
  v128.store(lanes, i64x2.add(product3, swapped(plain3)), 48);
}

/** `fold` of `mixing.ts` for two pairs of lanes at once, and their sum. */
export function mergePairs(lanes0: v128, lanes1: v128, secret: usize): u64 {
  const first = v128.xor(lanes0, v128.load(secret));
  const second = v128.xor(lanes1, v128.load(secret, 16));
  // Halves of the left and right factors: low first, low second, high first, high second.
  const left = v128.shuffle<u32>(first, second, 0, 4, 1, 5);
  const right = v128.shuffle<u32>(first, second, 2, 6, 3, 7);
  const rightCrossed = v128.shuffle<u32>(right, right, 2, 3, 0, 1);
  const lowLow = i64x2.extmul_low_i32x4_u(left, right);
  const highHigh = i64x2.extmul_high_i32x4_u(left, right);
  const lowHigh = i64x2.extmul_low_i32x4_u(left, rightCrossed);
  const highLow = i64x2.extmul_high_i32x4_u(left, rightCrossed);

  const mask = i64x2.splat(0xffffffff);
  const cross = i64x2.add(i64x2.add(i64x2.shr_u(lowLow, 32), v128.and(highLow, mask)), lowHigh);
  const high = i64x2.add(i64x2.add(i64x2.shr_u(highLow, 32), i64x2.shr_u(cross, 32)), highHigh);
  const low = v128.or(i64x2.shl(cross, 32), v128.and(lowLow, mask));
  const folded = v128.xor(high, low);
  return i64x2.extract_lane(folded, 0) + i64x2.extract_lane(folded, 1);
}

/** The two 64-bit halves in each other's place. */
export function swapped(data: v128): v128 {
  return v128.shuffle<u64>(data, data, 1, 0);
}
