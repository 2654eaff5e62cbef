import type { SimRandom } from "./sim-random.ts";

/** A disk writes this much at once or not at all. */
const SECTOR_LENGTH = 512;

/**
 * How much of what was not synced a crash leaves: nothing, everything, or what chance picks, sector by
 * sector.
 */
export type CrashKeep = "none" | "all" | "random";

/** Bytes of one simulated file: as a reader sees them, and as they are known to be on the platters. */
export class SimContent {
  #live = new Growing();
  #durable = new Growing();
  /** Sectors that differ and that a later sync or chance may still carry over. */
  #dirty = new Set<number>();
  /** Syncs under way, the one that began first at the beginning. */
  readonly #syncing = new Set<SyncUnderWay>();
  #syncsBegun = 0;
  /** Number of the sync that says how long the file is known to be. */
  #lengthFrom = 0;
  /** Sectors of syncs that failed: chance may carry them over, no later sync does. */
  #unsure = new Set<number>();

  get length(): number {
    return this.#live.length;
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return;
    this.#live.write(bytes, position);
    this.#markDirty(position, position + bytes.length);
  }

  /** Copies what there is from `position` into `target`; returns the number of bytes. */
  read(target: Uint8Array, position: number): number {
    const found = this.#live.slice(position, position + target.length);
    target.set(found);
    return found.length;
  }

  truncate(length: number): void {
    const before = this.#live.length;
    this.#live.resize(length);
    this.#markDirty(Math.min(before, length), Math.max(before, length));
  }

  /**
   * Begins a sync: what was written so far is covered, what comes later is not. It ends when what earlier
   * syncs have on their way is on the platters too, unless those have failed by then.
   */
  beginSync(): ContentSync {
    this.#syncsBegun += 1;
    const sync = { number: this.#syncsBegun, sectors: this.#dirty, length: this.#live.length };
    this.#dirty = new Set();
    this.#syncing.add(sync);
    const end = (carry: () => void) => {
      if (this.#syncing.has(sync)) carry();
      this.#syncing.delete(sync);
    };
    return {
      succeed: () => end(() => this.#makeDurable(sync)),
      fail: () => end(() => this.#distrust(sync.sectors)),
    };
  }

  flipBit(bit: number): void {
    this.#live.flipBit(bit);
    this.#durable.flipBit(bit);
  }

  /** What is left after power loss, as a new content that is all durable. */
  afterCrash(keep: CrashKeep, random: SimRandom): SimContent {
    const left = new SimContent();
    const base = keep === "all" ? this.#live : this.#durable;
    left.#live.copyFrom(base);
    if (keep === "random") this.#keepByChance(left.#live, random);
    left.#durable.copyFrom(left.#live);
    return left;
  }

  /**
   * What is left when only the process died: all that was written, none of it more durable than before. What
   * a sync was about to carry over is the next one's.
   */
  afterKill(): SimContent {
    const left = new SimContent();
    left.#live.copyFrom(this.#live);
    left.#durable.copyFrom(this.#durable);
    left.#dirty = new Set([this.#dirty, ...this.#sectorsSyncing()].flatMap((some) => [...some]));
    left.#unsure = new Set(this.#unsure);
    return left;
  }

  #keepByChance(target: Growing, random: SimRandom): void {
    const shorter = Math.min(this.#durable.length, this.#live.length);
    const longer = Math.max(this.#durable.length, this.#live.length);
    const kinds = [this.#dirty, this.#unsure, ...this.#sectorsSyncing()];
    const sectors = new Set(kinds.flatMap((some) => [...some]));
    if (sectors.size > 0) target.resize(shorter + random.below(longer - shorter + 1));
    for (const sector of sectors) {
      if (random.chance(0.5)) copySector(this.#live, target, sector);
    }
  }

  #sectorsSyncing(): ReadonlySet<number>[] {
    return [...this.#syncing].map(({ sectors }) => sectors);
  }

  /** A sync that began earlier and ends later takes nothing back: neither bytes nor the length. */
  #makeDurable({ number, length }: SyncUnderWay): void {
    if (number > this.#lengthFrom) {
      this.#lengthFrom = number;
      this.#durable.resize(length);
    }
    for (const sync of this.#syncing) {
      if (sync.number > number) break;
      for (const sector of sync.sectors) {
        copySector(this.#live, this.#durable, sector);
        this.#unsure.delete(sector);
      }
    }
  }

  #distrust(sectors: ReadonlySet<number>): void {
    for (const sector of sectors) this.#unsure.add(sector);
  }

  #markDirty(start: number, end: number): void {
    const first = Math.floor(start / SECTOR_LENGTH);
    for (let sector = first; sector * SECTOR_LENGTH < Math.max(end, start + 1); sector++)
      this.#dirty.add(sector);
  }
}

/** What a sync under way covers. */
interface SyncUnderWay {
  /** How many began before it, and it. */
  readonly number: number;
  readonly sectors: ReadonlySet<number>;
  /** How long the file was when it began. */
  readonly length: number;
}

/** The end of a sync that is under way. */
export interface ContentSync {
  /** It came to its end. */
  succeed(): void;
  /** It failed: chance decides about its bytes, sector by sector, until they are written again. */
  fail(): void;
}

/** Copies one sector as far as both contents reach. */
function copySector(from: Growing, to: Growing, sector: number): void {
  const start = sector * SECTOR_LENGTH;
  const end = Math.min(start + SECTOR_LENGTH, from.length, to.length);
  if (end > start) to.write(from.slice(start, end), start);
}

/** Bytes with spare room behind them; what was never written is zero. */
class Growing {
  #bytes = new Uint8Array(0);
  length = 0;

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.length) this.resize(end);
    this.#bytes.set(bytes, position);
  }

  /** A view; good until the next write. */
  slice(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(Math.min(start, this.length), Math.min(end, this.length));
  }

  resize(length: number): void {
    if (length < this.length) this.#bytes.fill(0, length, this.length);
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2, SECTOR_LENGTH));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.length = length;
  }

  copyFrom(other: Growing): void {
    this.#bytes = other.#bytes.slice(0, other.length);
    this.length = other.length;
  }

  flipBit(bit: number): void {
    const at = bit >>> 3;
    if (at < this.length) this.#bytes[at] = (this.#bytes[at] ?? 0) ^ (1 << (bit & 7));
  }
}
