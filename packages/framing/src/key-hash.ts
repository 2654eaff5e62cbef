import xxhash from "xxhash-wasm";

/** XXH32 of some bytes, seed 0, as an unsigned 32-bit number. */
export type KeyHash = (bytes: Uint8Array) => number;

/**
 * Loads the hash that places message keys on partitions and gives named consumers their number.
 *
 * XXH32 with seed 0, as the official server computes it. Never a checksum: those are XXH3-64, see
 * `checksum.ts`.
 */
export async function loadKeyHash(): Promise<KeyHash> {
  const { h32Raw } = await xxhash();
  return (bytes) => h32Raw(bytes, 0);
}
