import { BLOCK_LENGTH } from "./layout";
import { hashLong } from "./long-hash";
import { hashMiddle } from "./middle-hash";
import { hash17To128, hash129To240, hashUpTo16 } from "./short-hash";

/** XXH3-64, default secret, seed 0, of any `length` bytes. */
export function hash(at: usize, length: usize): u64 {
  if (length > 240) {
    if (ASC_FEATURE_SIMD && length <= BLOCK_LENGTH) return hashMiddle(at, length);
    return hashLong(at, length);
  }
  if (length > 128) return hash129To240(at, length);
  if (length > 16) return hash17To128(at, length);
  return hashUpTo16(at, length);
}
