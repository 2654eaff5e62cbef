import xxhash from "xxhash-wasm";

/** XXH32 of some bytes, seed 0, as an unsigned 32-bit number. */
export type KeyHash = (bytes: Uint8Array) => number;

let loading: Promise<KeyHash> | undefined;

/**
 * Loads the hash that places message keys on partitions and gives named consumers their number.
 *
 * XXH32 with seed 0, as the official server computes it. Never a checksum: those are XXH3-64, see
 * `checksum.ts`. Only the first call of a process takes time, and real time: a simulation calls it before its
 * clock starts.
 */
export function loadKeyHash(): Promise<KeyHash> {
  loading ??= xxhash().then(
    ({ h32Raw }) =>
      (bytes) =>
        h32Raw(bytes, 0),
  );
  return loading;
}
