// XXH3-64 of 241..1024 bytes with SIMD: what most frames are. One incomplete block, so nothing is scrambled
// and the lanes never leave the registers. Longer input takes `long-hash.ts`, whose lanes lie in memory between
// blocks.
import { mergePairs, swapped } from "./lanes-simd";
import { LAST_STRIPE_SECRET, MERGE_SECRET, SECRET } from "./layout";
import { avalanche } from "./mixing";
import { P32_1, P32_2, P32_3, P64_1, P64_2, P64_3, P64_4, P64_5 } from "./primes.table";

/** XXH3-64 of 241..1024 bytes. The last stripe overlaps the one before it and has words of its own. */
export function hashMiddle(at: usize, length: usize): u64 {
  let sum0 = i64x2(P32_3, P64_1);
  let sum1 = i64x2(P64_2, P64_3);
  let sum2 = i64x2(P64_4, P32_2);
  let sum3 = i64x2(P64_5, P32_1);
  // The input itself is added to the neighbour of its lane: summed up apart, it changes places once at the
  // end.
  let plain0 = i64x2.splat(0);
  let plain1 = i64x2.splat(0);
  let plain2 = i64x2.splat(0);
  let plain3 = i64x2.splat(0);
  let secret = SECRET;
  const lastStripe = at + length - 64;
  for (; at < lastStripe; at += 64, secret += 8) {
    const data0 = v128.load(at);
    const data1 = v128.load(at, 16);
    const data2 = v128.load(at, 32);
    const data3 = v128.load(at, 48);
    const keyed0 = v128.xor(data0, v128.load(secret));
    const keyed1 = v128.xor(data1, v128.load(secret, 16));
    const keyed2 = v128.xor(data2, v128.load(secret, 32));
    const keyed3 = v128.xor(data3, v128.load(secret, 48));
    const low01 = lowHalves(keyed0, keyed1);
    const high01 = highHalves(keyed0, keyed1);
    const low23 = lowHalves(keyed2, keyed3);
    const high23 = highHalves(keyed2, keyed3);
    sum0 = i64x2.add(sum0, i64x2.extmul_low_i32x4_u(low01, high01));
    sum1 = i64x2.add(sum1, i64x2.extmul_high_i32x4_u(low01, high01));
    sum2 = i64x2.add(sum2, i64x2.extmul_low_i32x4_u(low23, high23));
    sum3 = i64x2.add(sum3, i64x2.extmul_high_i32x4_u(low23, high23));
    plain0 = i64x2.add(plain0, data0);
    plain1 = i64x2.add(plain1, data1);
    plain2 = i64x2.add(plain2, data2);
    plain3 = i64x2.add(plain3, data3);
  }
  const data0 = v128.load(lastStripe);
  const data1 = v128.load(lastStripe, 16);
  const data2 = v128.load(lastStripe, 32);
  const data3 = v128.load(lastStripe, 48);
  const keyed0 = v128.xor(data0, v128.load(SECRET + LAST_STRIPE_SECRET));
  const keyed1 = v128.xor(data1, v128.load(SECRET + LAST_STRIPE_SECRET, 16));
  const keyed2 = v128.xor(data2, v128.load(SECRET + LAST_STRIPE_SECRET, 32));
  const keyed3 = v128.xor(data3, v128.load(SECRET + LAST_STRIPE_SECRET, 48));
  const low01 = lowHalves(keyed0, keyed1);
  const high01 = highHalves(keyed0, keyed1);
  const low23 = lowHalves(keyed2, keyed3);
  const high23 = highHalves(keyed2, keyed3);
  sum0 = i64x2.add(
    i64x2.add(sum0, i64x2.extmul_low_i32x4_u(low01, high01)),
    swapped(i64x2.add(plain0, data0)),
  );
  sum1 = i64x2.add(
    i64x2.add(sum1, i64x2.extmul_high_i32x4_u(low01, high01)),
    swapped(i64x2.add(plain1, data1)),
  );
  sum2 = i64x2.add(
    i64x2.add(sum2, i64x2.extmul_low_i32x4_u(low23, high23)),
    swapped(i64x2.add(plain2, data2)),
  );
  sum3 = i64x2.add(
    i64x2.add(sum3, i64x2.extmul_high_i32x4_u(low23, high23)),
    swapped(i64x2.add(plain3, data3)),
  );
  const merged =
    mergePairs(sum0, sum1, SECRET + MERGE_SECRET) + mergePairs(sum2, sum3, SECRET + MERGE_SECRET + 32);
  return avalanche((length as u64) * P64_1 + merged);
}

function lowHalves(first: v128, second: v128): v128 {
  return v128.shuffle<u32>(first, second, 0, 2, 4, 6);
}

function highHalves(first: v128, second: v128): v128 {
  return v128.shuffle<u32>(first, second, 1, 3, 5, 7);
}
