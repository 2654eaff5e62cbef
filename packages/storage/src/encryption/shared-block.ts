import type { BlockPool, Lease } from "@millrace/framing";

/** Leases on few bytes, cut back to back from whole blocks: each costs about what it weighs. */
export class SharedBlock {
  #block: { readonly lease: Lease; used: number; readonly pool: BlockPool } | undefined;

  /** A lease on the next `length` bytes, held once; nothing when the pool is out of blocks. */
  take(pool: BlockPool, length: number): Lease | undefined {
    if (!this.#hasRoom(pool, length)) this.#begin(pool);
    const block = this.#block;
    if (block === undefined || block.lease.length - block.used < length) return undefined;
    const part = block.lease.part(block.used, length);
    block.used += length;
    return part;
  }

  /** Lets go of the block at hand; leases on its parts keep theirs. */
  release(): void {
    this.#block?.lease.release();
    this.#block = undefined;
  }

  #hasRoom(pool: BlockPool, length: number): boolean {
    const block = this.#block;
    return block !== undefined && block.pool === pool && block.lease.length - block.used >= length;
  }

  #begin(pool: BlockPool): void {
    this.release();
    const lease = pool.allocate(pool.blockLength);
    if (lease !== undefined) this.#block = { lease, used: 0, pool };
  }
}
