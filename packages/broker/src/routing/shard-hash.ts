/** Seed of the routing hash. */
const SEED = 0;

function scramble(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

function absorb(hash: number, word: number): number {
  const mixed = hash ^ scramble(word);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * Murmur3 (x86, 32 bit, seed 0) of a packed partition read as 8 little-endian bytes.
 *
 * @param packed  a number below 2^53, see `packPartition`
 */
export function murmur3OfPacked(packed: number): number {
  const low = (packed % 2 ** 32) | 0;
  const high = Math.floor(packed / 2 ** 32) | 0;
  return finish(absorb(absorb(SEED, low), high) ^ 8);
}

/** The shard that owns a packed partition: the upper 16 bits of its hash, modulo the number of shards. */
export function shardOf(packed: number, shardsCount: number): number {
  return (murmur3OfPacked(packed) >>> 16) % shardsCount;
}
