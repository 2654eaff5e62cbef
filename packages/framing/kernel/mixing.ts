import { MIX_1, P64_2, P64_3 } from "./primes.table";

/**
 * The 128-bit product, its halves xored. WebAssembly has no wide multiplication, so it takes four narrow
 * ones.
 */
export function fold(left: u64, right: u64): u64 {
  const leftLow = left & 0xffffffff;
  const leftHigh = left >> 32;
  const rightLow = right & 0xffffffff;
  const rightHigh = right >> 32;
  const low = leftLow * rightLow;
  const middle = leftHigh * rightLow;
  const cross = (low >> 32) + (middle & 0xffffffff) + leftLow * rightHigh;
  const high = (middle >> 32) + (cross >> 32) + leftHigh * rightHigh;
  return high ^ ((cross << 32) | (low & 0xffffffff));
}

/** Last step of all hashes over 8 bytes long. */
export function avalanche(hash: u64): u64 {
  const mixed = (hash ^ (hash >> 37)) * MIX_1;
  return mixed ^ (mixed >> 32);
}

/** Last step of hashes of at most 3 bytes, taken over from XXH64. */
export function avalancheShort(hash: u64): u64 {
  let mixed = (hash ^ (hash >> 33)) * P64_2;
  mixed = (mixed ^ (mixed >> 29)) * P64_3;
  return mixed ^ (mixed >> 32);
}
