import { assert } from "@millrace/errors";
import type { Prepare } from "@millrace/vsr";
import type { CrashKind, Durability } from "./crash-kind.ts";
import type { Device } from "./device.ts";

interface Change {
  readonly kind: "append" | "truncate";
  /** Of an append: the op. Of a truncate: the highest op that stays. */
  readonly op: number;
  readonly prepare: Prepare | undefined;
  readonly done: () => void;
  isWritten: boolean;
  isReported: boolean;
}

/** What a start finds in a journal. */
export interface FoundJournal {
  readonly op: number;
  readonly checksum: bigint;
  /** base+1..op. */
  readonly prepares: readonly Prepare[];
  /** Something that was reported as written is not there any more. */
  readonly hasLost: boolean;
}

/**
 * A contiguous journal of one replica: ops base+1..op, appended in order; a suffix can be cut, and what a
 * snapshot covers is let go at the front.
 *
 * Changes reach the system in order, one at a time, and become durable in order. A kill keeps what the system
 * was given; a power loss keeps a part, from the front, of what was not synced, so an append or a cut that
 * was not reported may be there or not.
 */
export class SimJournal {
  base = 0;
  baseChecksum = 0n;
  /** A power loss or rot took something that was reported as written. */
  #hasLost = false;
  readonly #device: Device;
  readonly #durability: Durability;
  readonly #syncDelayMicros: number;
  /** What is synced, and what the process sees: the same with all changes done. */
  #synced: Prepare[] = [];
  #seen: Prepare[] = [];
  #changes: Change[] = [];
  #isWriting = false;
  #isSyncing = false;
  #isSyncAsked = false;
  #life = 0;
  /** Prepares that no longer verify, by their checksum: the same op may be written anew. */
  readonly #rotten = new Set<bigint>();

  /** @param syncDelayMicros  how long `replicated` lets written data wait for a sync */
  constructor(device: Device, durability: Durability, syncDelayMicros: number) {
    this.#device = device;
    this.#durability = durability;
    this.#syncDelayMicros = syncDelayMicros;
  }

  /** Last op the process has asked to write. */
  get op(): number {
    return this.base + this.#seen.length;
  }

  /** Last op that no crash takes any more. */
  get syncedOp(): number {
    const cut = this.#changes.find(({ kind }) => kind === "truncate")?.op ?? Number.POSITIVE_INFINITY;
    return Math.min(this.base + this.#synced.length, cut);
  }

  /** Whether this very prepare was reported as written, and not cut since; what a snapshot covers counts. */
  hasWritten(op: number, checksum: bigint): boolean {
    if (op <= this.base) return op < this.base || checksum === this.baseChecksum;
    const seen = this.#seen[op - this.base - 1];
    if (seen?.checksum !== checksum) return false;
    return !this.#changes.some((change) => change.prepare === seen && !change.isReported);
  }

  /** A prepare that was written and verifies. */
  read(op: number): Prepare | undefined {
    const prepare = this.#seen[op - this.base - 1];
    if (prepare === undefined || this.#rotten.has(prepare.checksum)) return undefined;
    return this.hasWritten(op, prepare.checksum) ? prepare : undefined;
  }

  append(prepare: Prepare, done: () => void): void {
    assert(prepare.op === this.op + 1, `a journal at op ${this.op} is given the next op, not ${prepare.op}`);
    this.#seen.push(prepare);
    this.#rotten.delete(prepare.checksum);
    this.#change({ kind: "append", op: prepare.op, prepare, done, isWritten: false, isReported: false });
  }

  /** Cuts everything above `op`; done when it is synced. */
  truncate(op: number, done: () => void): void {
    assert(op >= this.base, `a journal that begins after op ${this.base} is not cut to ${op}`);
    this.#seen.length = Math.min(this.#seen.length, op - this.base);
    this.#change({ kind: "truncate", op, prepare: undefined, done, isWritten: false, isReported: false });
  }

  /** Lets go of ops up to `op`, which a synced snapshot covers. They must be synced. */
  trim(op: number): void {
    if (op <= this.base || op > this.syncedOp) return;
    this.baseChecksum = (this.#seen[op - this.base - 1] as Prepare).checksum;
    this.#seen = this.#seen.slice(op - this.base);
    this.#synced = this.#synced.slice(op - this.base);
    this.base = op;
  }

  /** Empties the journal: it goes on after `op`. Synced at once; the caller has waited for that. */
  reset(op: number, checksum: bigint): void {
    this.#endLife();
    this.base = op;
    this.baseChecksum = checksum;
    this.#synced = [];
    this.#seen = [];
  }

  /** Forgets everything, as an empty directory does. */
  wipe(): void {
    this.reset(0, 0n);
    this.#hasLost = true;
  }

  /** Changes bits of one op. False when there is no such op, or not synced yet. */
  rot(op: number): boolean {
    const prepare = this.#synced[op - this.base - 1];
    if (prepare === undefined) return false;
    this.#rotten.add(prepare.checksum);
    return true;
  }

  /** The process is gone. */
  crash(kind: CrashKind): void {
    const changes = this.#changes;
    this.#endLife();
    const written = changes.filter(({ isWritten }) => isWritten).length;
    const certain = kind === "kill" ? written : 0;
    const kept = certain + this.#device.chance.below(changes.length - certain + 1);
    for (const change of changes.slice(kept)) if (change.isReported) this.#hasLost = true;
    if (kind === "power") for (const change of changes.slice(0, kept)) this.#applySynced(change);
    else
      this.#changes = changes
        .slice(0, kept)
        .map((change) => ({ ...change, isWritten: true, done: () => {} }));
    this.#seen = [...this.#synced];
    for (const change of this.#changes) applyTo(this.#seen, this.base, change);
  }

  /**
   * Reads it as a start does, cutting what follows the first op above the snapshot that does not verify. One
   * that does not reach the snapshot, or holds another op in its place, begins anew behind it. A `persisted`
   * journal is synced before it is trusted, and so is one that was cut.
   */
  open(snapshot: { readonly op: number; readonly checksum: bigint }): FoundJournal {
    if (this.#durability === "persisted" || this.#changes.some(({ kind }) => kind === "truncate")) {
      for (const change of this.#changes) this.#applySynced(change);
      this.#changes = [];
    }
    for (const change of this.#changes) change.isReported = true;
    if (this.#changes.length > 0) this.#syncLater();
    this.#cutRot(snapshot.op);
    const isBehind = this.op < snapshot.op || !this.hasWritten(snapshot.op, snapshot.checksum);
    if (isBehind) this.reset(snapshot.op, snapshot.checksum);
    const hasLost = this.#hasLost;
    this.#hasLost = false;
    const last = this.#seen.at(-1);
    return { op: this.op, checksum: last?.checksum ?? this.baseChecksum, prepares: [...this.#seen], hasLost };
  }

  /** Whether any op of it is known to the simulator to be rotten. */
  get isRotten(): boolean {
    return this.#synced.some(({ checksum }) => this.#rotten.has(checksum));
  }

  #cutRot(snapshotOp: number): void {
    const covered = this.#seen.findLastIndex(
      ({ op, checksum }) => op <= snapshotOp && this.#rotten.has(checksum),
    );
    if (covered >= 0) this.trim(this.base + covered + 1);
    const first = this.#seen.findIndex(({ checksum }) => this.#rotten.has(checksum));
    if (first < 0) return;
    this.#hasLost = true;
    this.#seen.length = first;
    this.#synced = [...this.#seen];
    this.#changes = [];
  }

  #endLife(): void {
    this.#life += 1;
    this.#changes = [];
    this.#isWriting = false;
    this.#isSyncing = false;
    this.#isSyncAsked = false;
  }

  #change(change: Change): void {
    this.#changes.push(change);
    if (!this.#isWriting) this.#write();
  }

  #write(): void {
    const next = this.#changes.find(({ isWritten }) => !isWritten);
    this.#isWriting = next !== undefined;
    if (next === undefined) return;
    const life = this.#life;
    this.#device.write(() => {
      if (life !== this.#life) return;
      next.isWritten = true;
      this.#write();
      if (this.#durability === "persisted" || next.kind === "truncate") this.#sync();
      else {
        this.#syncLater();
        this.#report(next);
      }
    });
  }

  #syncLater(): void {
    if (this.#isSyncAsked) return;
    this.#isSyncAsked = true;
    const life = this.#life;
    this.#device.later(this.#syncDelayMicros, () => {
      if (life !== this.#life) return;
      this.#isSyncAsked = false;
      this.#sync();
    });
  }

  #sync(): void {
    const count = this.#changes.filter(({ isWritten }) => isWritten).length;
    if (this.#isSyncing || count === 0) return;
    this.#isSyncing = true;
    const life = this.#life;
    this.#device.sync(() => {
      if (life !== this.#life) return;
      this.#isSyncing = false;
      const done = this.#changes.splice(0, count);
      for (const change of done) this.#applySynced(change);
      this.#syncNext();
      for (const change of done) if (life === this.#life) this.#report(change);
    });
  }

  #syncNext(): void {
    const isUrgent = ({ kind, isWritten }: Change) => isWritten && kind === "truncate";
    if (this.#durability === "persisted" || this.#changes.some(isUrgent)) this.#sync();
    else if (this.#changes.length > 0) this.#syncLater();
  }

  #report(change: Change): void {
    if (change.isReported) return;
    change.isReported = true;
    change.done();
  }

  #applySynced(change: Change): void {
    applyTo(this.#synced, this.base, change);
  }
}

function applyTo(prepares: Prepare[], base: number, change: Change): void {
  if (change.prepare === undefined) prepares.length = Math.min(prepares.length, change.op - base);
  else prepares[change.op - base - 1] = change.prepare;
}
