import type { BlockPool, KernelMemory, Lease } from "@millrace/framing";
import type { Tail, TailEntry } from "./tail.ts";

/**
 * Batches below this are copied together: a lease on a few bytes would keep a whole block of 1 MiB from
 * others.
 */
export const SMALL_BATCH_LENGTH_MAX = 16_384;
/**
 * On pressure the cache shrinks to this part of what it holds: half frees many blocks and keeps the hot end.
 */
const PRESSURE_KEEP = 0.5;
/**
 * The oldest-first list is compacted when more than this many of its entries, and half of them, were let go.
 */
const STALE_ENTRIES_MAX = 4096;

/**
 * Recent batches of all partitions of a shard, kept so that readers at the end need no disk.
 *
 * Holds leases, at most `lengthMax` bytes of batches; beyond it, and whenever a pool it serves runs short,
 * the oldest go first. Small batches are copied back to back into blocks of the cache's own, so that they
 * cost about what they weigh.
 */
export class TailCache {
  readonly #lengthMax: number;
  readonly #pools = new WeakSet<BlockPool>();
  #length = 0;
  #oldestFirst: TailEntry[] = [];
  #start = 0;
  #held = 0;
  #gathering: { readonly lease: Lease; used: number; readonly pool: BlockPool } | undefined;

  constructor(options: { readonly lengthMax: number }) {
    this.#lengthMax = options.lengthMax;
  }

  /** Bytes of batches held now. */
  get length(): number {
    return this.#length;
  }

  /** Lets go of the older half whenever `pool` runs short, after whoever listened before. */
  servePool(pool: BlockPool): void {
    if (this.#pools.has(pool)) return;
    this.#pools.add(pool);
    const before = pool.onPressure;
    pool.onPressure = () => {
      before?.();
      this.#shrinkTo(this.#length * PRESSURE_KEEP);
    };
  }

  /**
   * A lease of its own on the batch: small ones are copied into a shared block, large ones (and small ones
   * when the pool is out of blocks) are retained as they are. `memory` is the pool's. The caller releases it.
   */
  hold(pool: BlockPool, batchLease: Lease, memory: KernelMemory): Lease {
    const compact =
      batchLease.length < SMALL_BATCH_LENGTH_MAX ? this.#copy(pool, batchLease, memory) : undefined;
    if (compact !== undefined) return compact;
    batchLease.retain();
    return batchLease;
  }

  /** Keeps a batch at the end of its tail; retains its lease. The entry is the cache's from here on. */
  add(entry: TailEntry): void {
    entry.lease?.retain();
    entry.tail.push(entry);
    this.#oldestFirst.push(entry);
    this.#length += entry.length;
    this.#held += 1;
    if (this.#length > this.#lengthMax) this.#shrinkTo(this.#lengthMax);
  }

  /** Lets go of everything `tail` holds. */
  drop(tail: Tail): void {
    for (let entry = tail.shift(); entry !== undefined; entry = tail.shift()) this.#letGo(entry);
    this.#tidy();
  }

  #copy(pool: BlockPool, batchLease: Lease, memory: KernelMemory): Lease | undefined {
    const { length, position } = batchLease;
    const room = this.#gathering === undefined ? 0 : this.#gathering.lease.length - this.#gathering.used;
    if (this.#gathering?.pool !== pool || room < length) this.#gatherAnew(pool);
    const gathering = this.#gathering;
    if (gathering === undefined || gathering.lease.length - gathering.used < length) return undefined;
    memory.bytes.copyWithin(gathering.lease.position + gathering.used, position, position + length);
    const part = gathering.lease.part(gathering.used, length);
    gathering.used += length;
    return part;
  }

  #gatherAnew(pool: BlockPool): void {
    this.#gathering?.lease.release();
    this.#gathering = undefined;
    const lease = pool.allocate(pool.blockLength);
    if (lease !== undefined) this.#gathering = { lease, used: 0, pool };
  }

  #shrinkTo(length: number): void {
    while (this.#length > length && this.#start < this.#oldestFirst.length) {
      const entry = this.#oldestFirst[this.#start];
      this.#start += 1;
      if (entry?.lease === undefined) continue;
      entry.tail.shift();
      this.#letGo(entry);
    }
    this.#tidy();
  }

  #tidy(): void {
    if (this.#held === 0) {
      this.#reset();
      return;
    }
    const stale = this.#oldestFirst.length - this.#held;
    if (stale < STALE_ENTRIES_MAX || stale < this.#held) return;
    this.#oldestFirst = this.#oldestFirst.slice(this.#start).filter((entry) => entry.lease !== undefined);
    this.#start = 0;
  }

  #letGo(entry: TailEntry): void {
    this.#length -= entry.length;
    this.#held -= 1;
    entry.lease?.release();
    entry.lease = undefined;
  }

  /** Nothing is held: the block being gathered goes back too. */
  #reset(): void {
    this.#oldestFirst = [];
    this.#start = 0;
    this.#gathering?.lease.release();
    this.#gathering = undefined;
  }
}
