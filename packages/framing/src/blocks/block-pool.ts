import { assert } from "@millrace/errors";
import type { KernelMemory } from "../checksum/checksum-kernel.ts";
import { BlockLease, type BlockRun } from "./block-lease.ts";
import { FreedBlocks } from "./freed-blocks.ts";
import type { Lease, LeaseSource } from "./lease.ts";

/** One block takes many small messages, and a batch of 1000 x 256 bytes three times over. */
const BLOCK_LENGTH_DEFAULT = 1_048_576;
/** Below an eighth of its blocks the pool asks caches to let go: time enough before a socket has to pause. */
const LOW_WATER_PART = 8;
const FREE = 0;
const TAKEN = 1;

/** How much of the memory a pool takes and how it is cut. Lengths in bytes. */
export interface BlockPoolOptions {
  /**
   * Where in the memory the pool begins: at or behind `blocksStart`, which is the default; a multiple of
   * 8.
   */
  readonly position?: number;
  /** Default: all of the memory from there on. Rounded down to whole blocks. */
  readonly length?: number;
  /** Default 1 MiB; a multiple of 8. */
  readonly blockLength?: number;
  /** For tests and the simulator: finds who reads or writes freed blocks. */
  readonly checked?: boolean;
}

/**
 * Cuts the kernel's memory into blocks and leases them out.
 *
 * A lease covers whole blocks, as many in a row as the length asked for needs; `part()` makes the leases of
 * the messages inside. The pool never grows: when nothing is free, `allocate` gives undefined and
 * `onAvailable` calls later. Using or releasing a lease after its last release stops the program (`assert`),
 * checked or not.
 */
export class BlockPool implements LeaseSource {
  readonly blockLength: number;
  readonly blocksTotal: number;
  /** Called when an allocation leaves few blocks, or finds none, so that a cache can release some at once. */
  onPressure: (() => void) | undefined;
  readonly #memory: KernelMemory;
  readonly #position: number;
  readonly #taken: Uint8Array;
  readonly #freedBlocks: FreedBlocks | undefined;
  #blocksFree: number;
  #lowestFree = 0;
  #leasesOut = 0;
  #waiting: (() => void)[] = [];
  #isNotifying = false;

  constructor(memory: KernelMemory, options: BlockPoolOptions = {}) {
    this.#position = options.position ?? memory.blocksStart;
    const isBehind = this.#position >= memory.blocksStart && this.#position % 8 === 0;
    assert(isBehind, "a pool begins behind the kernel's own part");
    const room = memory.bytes.byteLength - this.#position;
    this.blockLength = options.blockLength ?? BLOCK_LENGTH_DEFAULT;
    assert(this.blockLength > 0 && this.blockLength % 8 === 0, "a block's length is a multiple of 8");
    this.blocksTotal = Math.floor(Math.min(options.length ?? room, room) / this.blockLength);
    assert(this.blocksTotal > 0, "a pool holds at least one block");
    this.#memory = memory;
    this.#taken = new Uint8Array(this.blocksTotal);
    this.#blocksFree = this.blocksTotal;
    if (options.checked === true) {
      const end = this.#position + this.blocksTotal * this.blockLength;
      this.#freedBlocks = new FreedBlocks(memory.bytes.subarray(this.#position, end), this.blockLength);
    }
  }

  /** Blocks nobody holds. A longer message needs several in a row, so free blocks may still not fit it. */
  get blocksFree(): number {
    return this.#blocksFree;
  }

  /** Leases held now, parts counted one by one. Every test ends with none. */
  get leasesOut(): number {
    return this.#leasesOut;
  }

  allocate(length: number): Lease | undefined {
    const blockCount = Math.max(1, Math.ceil(length / this.blockLength));
    let firstBlock = this.#findFree(blockCount);
    if (firstBlock < 0) {
      this.onPressure?.();
      firstBlock = this.#findFree(blockCount);
      if (firstBlock < 0) return undefined;
    }
    const lease = this.#leaseRun(firstBlock, blockCount);
    if (this.#blocksFree < this.blocksTotal / LOW_WATER_PART) this.onPressure?.();
    return lease;
  }

  onAvailable(callback: () => void): void {
    this.#waiting.push(callback);
  }

  /** First block of the lowest free run, or -1. */
  #findFree(blockCount: number): number {
    if (blockCount > this.#blocksFree) return -1;
    let start = this.#taken.indexOf(FREE, this.#lowestFree);
    if (start >= 0) this.#lowestFree = start;
    while (start >= 0 && start + blockCount <= this.blocksTotal) {
      const obstacle = this.#taken.indexOf(TAKEN, start);
      if (obstacle < 0 || obstacle - start >= blockCount) return start;
      start = this.#taken.indexOf(FREE, obstacle);
    }
    return -1;
  }

  #leaseRun(firstBlock: number, blockCount: number): Lease {
    for (let block = firstBlock; block < firstBlock + blockCount; block++) {
      this.#freedBlocks?.assertUntouched(block);
    }
    this.#taken.fill(TAKEN, firstBlock, firstBlock + blockCount);
    this.#blocksFree -= blockCount;
    const run: BlockRun = {
      memory: this.#memory,
      firstBlock,
      blockCount,
      leases: 0,
      onLeased: this.#onLeased,
      onReleased: this.#onReleased,
    };
    const position = this.#position + firstBlock * this.blockLength;
    return new BlockLease(run, position, blockCount * this.blockLength);
  }

  readonly #onLeased = (): void => {
    this.#leasesOut++;
  };

  readonly #onReleased = (run: BlockRun): void => {
    this.#leasesOut--;
    if (run.leases > 0) return;
    const end = run.firstBlock + run.blockCount;
    for (let block = run.firstBlock; block < end; block++) this.#freedBlocks?.overwrite(block);
    this.#taken.fill(FREE, run.firstBlock, end);
    this.#blocksFree += run.blockCount;
    this.#lowestFree = Math.min(this.#lowestFree, run.firstBlock);
    this.#notifyWaiting();
  };

  /**
   * Calls whoever waits, first come first served, as long as a block is free: not within the release, for
   * whoever releases is in the middle of something that a message coming in must not find half done. A waiter
   * may wait again (it needed more), and is called when the next block is freed.
   */
  #notifyWaiting(): void {
    if (this.#isNotifying || this.#waiting.length === 0) return;
    this.#isNotifying = true;
    queueMicrotask(() => {
      this.#isNotifying = false;
      const round = this.#waiting;
      this.#waiting = [];
      for (const callback of round) {
        if (this.#blocksFree > 0) callback();
        else this.#waiting.push(callback);
      }
    });
  }
}
