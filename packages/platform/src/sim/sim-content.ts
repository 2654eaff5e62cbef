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
  /** Sectors of syncs that fail and of those beside them: chance may carry them over, no later sync does. */
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
   * Begins a sync: what was written so far is covered, as it is now; what comes later is not. When it ends,
   * what earlier syncs have on their way is on the platters too.
   *
   * One that will fail leaves in doubt what it covers and what syncs beside it cover, whichever of them ends
   * first: a system tells only one of them of a page that could not be written.
   */
  beginSync(willFail = false): ContentSync {
    this.#syncsBegun += 1;
    const { length } = this.#live;
    const sync = { number: this.#syncsBegun, sectors: this.#takeDirty(), length, willFail };
    const others = [...this.#syncing];
    this.#syncing.add(sync);
    if (willFail) for (const other of this.#syncing) this.#distrust(other);
    else if (others.some((other) => other.willFail)) this.#distrust(sync);
    return {
      end: () => {
        if (this.#syncing.has(sync) && !willFail) this.#makeDurable(sync);
        this.#syncing.delete(sync);
      },
    };
  }

  flipBit(bit: number): void {
    this.#live.flipBit(bit);
    this.#durable.flipBit(bit);
    const sector = Math.floor(bit / (8 * SECTOR_LENGTH));
    for (const { sectors } of this.#syncing) {
      const bytes = sectors.get(sector);
      if (bytes !== undefined) flipBitOf(bytes, bit - 8 * SECTOR_LENGTH * sector);
    }
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
      if (!random.chance(0.5)) continue;
      const start = sector * SECTOR_LENGTH;
      putSector(this.#live.slice(start, start + SECTOR_LENGTH), target, sector);
    }
  }

  #sectorsSyncing(): number[][] {
    return [...this.#syncing].map(({ sectors }) => [...sectors.keys()]);
  }

  /** The bytes of the sectors that a sync which begins now covers. */
  #takeDirty(): Map<number, Uint8Array> {
    const taken = new Map<number, Uint8Array>();
    for (const sector of this.#dirty) {
      const start = sector * SECTOR_LENGTH;
      taken.set(sector, this.#live.slice(start, start + SECTOR_LENGTH).slice());
    }
    this.#dirty = new Set();
    return taken;
  }

  /** A sync that began earlier and ends later takes nothing back: neither bytes nor the length. */
  #makeDurable({ number, length }: SyncUnderWay): void {
    if (number > this.#lengthFrom) {
      this.#lengthFrom = number;
      this.#durable.resize(length);
    }
    for (const sync of this.#syncing) {
      if (sync.number > number) break;
      for (const [sector, bytes] of sync.sectors) {
        putSector(bytes, this.#durable, sector);
        this.#unsure.delete(sector);
      }
      sync.sectors.clear();
    }
  }

  #distrust({ sectors }: SyncUnderWay): void {
    for (const sector of sectors.keys()) this.#unsure.add(sector);
    sectors.clear();
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
  /** Sectors that it still has to carry over, as they were when it began. */
  readonly sectors: Map<number, Uint8Array>;
  /** How long the file was when it began. */
  readonly length: number;
  /** Chance decides about what it covers, sector by sector, until that is written again. */
  readonly willFail: boolean;
}

/** A sync that is under way. */
export interface ContentSync {
  /** It came to its end, or failed as was said when it began. */
  end(): void;
}

/** Puts the bytes of one sector into a content as far as that reaches. */
function putSector(bytes: Uint8Array, to: Growing, sector: number): void {
  const start = sector * SECTOR_LENGTH;
  const length = Math.min(bytes.length, to.length - start);
  if (length > 0) to.write(bytes.subarray(0, length), start);
}

function flipBitOf(bytes: Uint8Array, bit: number): void {
  const at = bit >>> 3;
  if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
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
    flipBitOf(this.#bytes.subarray(0, this.length), bit);
  }
}
