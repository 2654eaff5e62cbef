import { assert } from "@millrace/errors";
import type { BlockPool, ChecksumKernel, Lease } from "@millrace/framing";
import type { Tail, TailStretch } from "./tail.ts";

/**
 * Batches below this are copied together: a lease on a few bytes would keep a whole block of 1 MiB from
 * others.
 */
export const SMALL_BATCH_LENGTH_MAX = 16_384;
/**
 * Longest stretch of small batches. Its batches go together and a reader looks through their headers, at most
 * some 200 of 300 bytes; while one object a batch would keep the garbage collector busier than all else does.
 */
const STRETCH_LENGTH_MAX = 65_536;
/** No stretch is more than this part of what the cache may hold: it would empty it when it goes. */
const STRETCH_PART_MAX = 16;
/**
 * On pressure the cache shrinks to this part of what it holds: half frees many blocks and keeps the hot end.
 */
const PRESSURE_KEEP = 0.5;
/**
 * The oldest-first list is compacted when more than this many of its entries, and half of them, were let go.
 */
const STALE_STRETCHES_MAX = 4096;

/** A batch to be kept, a whole lease of the pool's memory, and what its header says. */
export interface TailBatch {
  /** Holds the bytes; another one, held once for the caller as well, when they were moved to be kept. */
  lease: Lease;
  /** First byte in the kernel's memory; follows `lease`. */
  position: number;
  readonly length: number;
  readonly baseOffset: number;
  readonly endOffset: number;
  /** Base timestamp, micros. */
  readonly timestamp: number;
}

/**
 * Recent batches of all partitions of a shard, kept so that readers at the end need no disk.
 *
 * Holds leases, at most `lengthMax` bytes of batches; beyond it, and whenever a pool it serves runs short,
 * the oldest go first. Small batches are copied back to back into blocks of the cache's own, so that they
 * cost about what they weigh.
 */
export class TailCache {
  readonly #lengthMax: number;
  readonly #stretchLengthMax: number;
  readonly #pools = new WeakSet<BlockPool>();
  #length = 0;
  #oldestFirst: TailStretch[] = [];
  #start = 0;
  #held = 0;
  #gathering: { readonly lease: Lease; used: number; readonly pool: BlockPool } | undefined;

  constructor(options: { readonly lengthMax: number }) {
    this.#lengthMax = options.lengthMax;
    this.#stretchLengthMax = Math.min(STRETCH_LENGTH_MAX, options.lengthMax / STRETCH_PART_MAX);
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
      this.giveWay();
    };
  }

  /** Lets go of the older half at once: somebody needs the memory. */
  giveWay(): void {
    this.#shrinkTo(this.#length * PRESSURE_KEEP);
  }

  /**
   * Keeps a batch at the end of a tail. Small ones are copied into a shared block, large ones (and small ones
   * when the pool is out of blocks) stay where they are. The kernel's memory is the pool's.
   *
   * The caller gets a hold on the bytes where they are kept, `batch.lease`, and releases it when he is done.
   */
  keep(pool: BlockPool, kernel: ChecksumKernel, tail: Tail, batch: TailBatch): void {
    const { lease, length } = batch;
    const position = length < SMALL_BATCH_LENGTH_MAX ? this.#copy(pool, kernel, lease) : undefined;
    const { last } = tail;
    const kept =
      position !== undefined && last !== undefined && this.#continues(last, position, length)
        ? this.#lengthen(last, batch)
        : this.#begin(tail, batch, position);
    assert(kept.lease !== undefined, "what is in a tail is held");
    // The caller's hold comes first: the cache may let the batch go at once.
    kept.lease.retain();
    batch.lease = kept.lease;
    batch.position = kept.position + kept.length - length;
    if (this.#length > this.#lengthMax) this.#shrinkTo(this.#lengthMax);
  }

  /** Lets go of everything `tail` holds. */
  drop(tail: Tail): void {
    for (let stretch = tail.shift(); stretch !== undefined; stretch = tail.shift()) this.#letGo(stretch);
    this.#tidy();
  }

  /** Position of a copy in the block being gathered; nothing when no block is free. */
  #copy(pool: BlockPool, kernel: ChecksumKernel, { position, length }: Lease): number | undefined {
    const room = this.#gathering === undefined ? 0 : this.#gathering.lease.length - this.#gathering.used;
    if (this.#gathering?.pool !== pool || room < length) this.#gatherAnew(pool);
    const gathering = this.#gathering;
    if (gathering === undefined || gathering.lease.length - gathering.used < length) return undefined;
    const to = gathering.lease.position + gathering.used;
    kernel.copy(to, position, length);
    gathering.used += length;
    return to;
  }

  #gatherAnew(pool: BlockPool): void {
    this.#gathering?.lease.release();
    this.#gathering = undefined;
    const lease = pool.allocate(pool.blockLength);
    if (lease !== undefined) this.#gathering = { lease, used: 0, pool };
  }

  /** A block's first batch continues nothing: what lies before it in memory belongs to another block. */
  #continues(last: TailStretch, position: number, length: number): boolean {
    if (position === this.#gathering?.lease.position) return false;
    return last.position + last.length === position && last.length + length <= this.#stretchLengthMax;
  }

  #lengthen(stretch: TailStretch, { length, endOffset, timestamp }: TailBatch): TailStretch {
    stretch.length += length;
    stretch.endOffset = endOffset;
    stretch.lastTimestamp = timestamp;
    this.#length += length;
    return stretch;
  }

  /** @param copiedTo  nothing when the batch stays where it is */
  #begin(tail: Tail, batch: TailBatch, copiedTo: number | undefined): TailStretch {
    const { lease, length, baseOffset, endOffset, timestamp } = batch;
    const stretch: TailStretch = {
      tail,
      position: copiedTo ?? lease.position,
      length,
      baseOffset,
      endOffset,
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
      lease: this.#leaseFor(lease, copiedTo),
    };
    tail.push(stretch);
    this.#oldestFirst.push(stretch);
    this.#length += stretch.length;
    this.#held += 1;
    return stretch;
  }

  /** A hold on the bytes: the batch's own, or one on the block it was copied to. */
  #leaseFor(lease: Lease, copiedTo: number | undefined): Lease {
    const gathered = copiedTo === undefined ? undefined : this.#gathering?.lease;
    if (gathered !== undefined) return gathered.part(0, gathered.length);
    lease.retain();
    return lease;
  }

  #shrinkTo(length: number): void {
    while (this.#length > length && this.#start < this.#oldestFirst.length) {
      const stretch = this.#oldestFirst[this.#start];
      this.#start += 1;
      if (stretch?.lease === undefined) continue;
      stretch.tail.shift();
      this.#letGo(stretch);
    }
    this.#tidy();
  }

  #tidy(): void {
    if (this.#held === 0) {
      this.#reset();
      return;
    }
    const stale = this.#oldestFirst.length - this.#held;
    if (stale < STALE_STRETCHES_MAX || stale < this.#held) return;
    this.#oldestFirst = this.#oldestFirst.slice(this.#start).filter((one) => one.lease !== undefined);
    this.#start = 0;
  }

  #letGo(stretch: TailStretch): void {
    this.#length -= stretch.length;
    this.#held -= 1;
    stretch.lease?.release();
    stretch.lease = undefined;
  }

  /** Nothing is held: the block being gathered goes back too. */
  #reset(): void {
    this.#oldestFirst = [];
    this.#start = 0;
    this.#gathering?.lease.release();
    this.#gathering = undefined;
  }
}
