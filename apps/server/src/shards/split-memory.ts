/** One block of the pool. */
const BLOCK_LENGTH = 1_048_576;

/** A part of the message memory, in bytes. */
export interface MemoryPart {
  readonly position: number;
  readonly length: number;
}

/**
 * The parts of the message memory, by shard: one half for shard 0, which receives for all, the other half for
 * the others in equal parts, each of whole blocks.
 *
 * @param memory  where blocks begin, and where the memory ends
 */
export function splitMemory(
  memory: { readonly blocksStart: number; readonly end: number },
  shardsCount: number,
): MemoryPart[] {
  const blocks = Math.floor((memory.end - memory.blocksStart) / BLOCK_LENGTH);
  const frontBlocks = shardsCount === 1 ? blocks : Math.ceil(blocks / 2);
  const ownerBlocks = Math.floor((blocks - frontBlocks) / Math.max(1, shardsCount - 1));
  return Array.from({ length: shardsCount }, (_, shard) => {
    const before = shard === 0 ? 0 : frontBlocks + (shard - 1) * ownerBlocks;
    const own = shard === 0 ? frontBlocks : ownerBlocks;
    return { position: memory.blocksStart + before * BLOCK_LENGTH, length: own * BLOCK_LENGTH };
  });
}
