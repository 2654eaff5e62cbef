import { SECRET } from "./layout";
import { P32_1, P32_2, P32_3, P64_1, P64_2, P64_3, P64_4, P64_5 } from "./primes.table";

/**
 * Puts the lanes at their start. In whole vectors: a vector cannot be loaded fast out of two narrow stores.
 */
export function startSimd(lanes: usize): void {
  v128.store(lanes, i64x2(P32_3, P64_1));
  v128.store(lanes, i64x2(P64_2, P64_3), 16);
  v128.store(lanes, i64x2(P64_4, P32_2), 32);
  v128.store(lanes, i64x2(P64_5, P32_1), 48);
}

/** Takes `stripes` stripes of 64 bytes into the lanes; the secret moves on by 8 bytes a stripe. */
export function accumulateSimd(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  let sum0 = v128.load(lanes);
  let sum1 = v128.load(lanes, 16);
  let sum2 = v128.load(lanes, 32);
  let sum3 = v128.load(lanes, 48);
  for (const end = at + (stripes << 6); at < end; at += 64, secret += 8) {
    const data0 = v128.load(at);
    const data1 = v128.load(at, 16);
    const data2 = v128.load(at, 32);
    const data3 = v128.load(at, 48);
    const keyed0 = v128.xor(data0, v128.load(secret));
    const keyed1 = v128.xor(data1, v128.load(secret, 16));
    const keyed2 = v128.xor(data2, v128.load(secret, 32));
    const keyed3 = v128.xor(data3, v128.load(secret, 48));
    // Low and high halves of four lanes side by side, so that one extended multiplication serves two lanes.
    const low01 = v128.shuffle<u32>(keyed0, keyed1, 0, 2, 4, 6);
    const high01 = v128.shuffle<u32>(keyed0, keyed1, 1, 3, 5, 7);
    const low23 = v128.shuffle<u32>(keyed2, keyed3, 0, 2, 4, 6);
    const high23 = v128.shuffle<u32>(keyed2, keyed3, 1, 3, 5, 7);
    sum0 = i64x2.add(i64x2.add(sum0, swapped(data0)), i64x2.extmul_low_i32x4_u(low01, high01));
    sum1 = i64x2.add(i64x2.add(sum1, swapped(data1)), i64x2.extmul_high_i32x4_u(low01, high01));
    sum2 = i64x2.add(i64x2.add(sum2, swapped(data2)), i64x2.extmul_low_i32x4_u(low23, high23));
    sum3 = i64x2.add(i64x2.add(sum3, swapped(data3)), i64x2.extmul_high_i32x4_u(low23, high23));
  }
  v128.store(lanes, sum0);
  v128.store(lanes, sum1, 16);
  v128.store(lanes, sum2, 32);
  v128.store(lanes, sum3, 48);
}

/** Stirs the lanes after a block. */
export function scrambleSimd(lanes: usize): void {
  const prime = i64x2.splat(P32_1);
  for (let offset: usize = 0; offset < 64; offset += 16) {
    const sum = v128.load(lanes + offset);
    const keyed = v128.xor(v128.xor(sum, i64x2.shr_u(sum, 47)), v128.load(SECRET + offset, 128));
    v128.store(lanes + offset, i64x2.mul(keyed, prime));
  }
}

/** The two 64-bit halves in each other's place. */
function swapped(data: v128): v128 {
  return v128.shuffle<u64>(data, data, 1, 0);
}
