import { assert, type CodedError } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import { encodeJournalRecord, type JournalHeader, type JournalStart, setGroupPlace } from "./journal-file.ts";
import type { JournalFiles } from "./journal-files.ts";

/** Records in one write; a metadata op is rare, so this only bounds memory. */
const GROUP_RECORDS_MAX = 256;

/** An op that waits to be journaled. */
interface Pending {
  readonly start: JournalStart;
  readonly bytes: Uint8Array;
  readonly done: (error?: CodedError) => void;
}

/**
 * Journals ops in groups: what queues while one is written and synced shares the next write. Whatever else
 * changes the files runs between two groups.
 */
export class JournalWriter {
  readonly #files: JournalFiles;
  readonly #kernel: ChecksumKernel;
  #accepted: JournalStart;
  #journaled: JournalStart;
  #aboveSnapshot: JournalStart[];
  #queue: Pending[] = [];
  #busy = false;
  #between: (() => void) | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(
    files: JournalFiles,
    kernel: ChecksumKernel,
    ops: { readonly last: JournalStart; readonly aboveSnapshot: JournalStart[] },
  ) {
    this.#files = files;
    this.#kernel = kernel;
    this.#accepted = ops.last;
    this.#journaled = ops.last;
    this.#aboveSnapshot = ops.aboveSnapshot;
  }

  /** The last op that was taken. */
  get accepted(): JournalStart {
    return this.#accepted;
  }

  /** The last op that is on disk. */
  get journaled(): JournalStart {
    return this.#journaled;
  }

  /** Journaled ops above the snapshot, in order. */
  get aboveSnapshot(): readonly JournalStart[] {
    return this.#aboveSnapshot;
  }

  /** Queues one op, whose body is copied. `done` is called once, in op order, after the sync. */
  append(header: JournalHeader, body: Uint8Array, done: (error?: CodedError) => void): void {
    assert(header.op === this.#accepted.op + 1, "metadata ops are appended in order");
    assert(header.parent === this.#accepted.checksum, "an op names the one before it as its parent");
    const start = { op: header.op, checksum: header.checksum, view: header.view };
    this.#accepted = start;
    this.#queue.push({ start, bytes: encodeJournalRecord(this.#kernel, header, body), done });
    this.#wake();
  }

  /** A snapshot of `op` holds the ops up to it. */
  snapshotTaken(op: number): void {
    this.#aboveSnapshot = this.#aboveSnapshot.filter((one) => one.op > op);
  }

  /** The journal ends with `last` now, whatever it held before. */
  endAt(last: JournalStart): void {
    this.#journaled = last;
    this.#accepted = last;
    this.#aboveSnapshot = this.#aboveSnapshot.filter((one) => one.op <= last.op);
  }

  /** Runs `action` while no group is on its way. */
  betweenGroups(action: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#between = () => {
        this.#between = undefined;
        action()
          .then(resolve, reject)
          .finally(() => this.#next());
      };
      this.#wake();
    });
  }

  /** Settles when nothing is queued or on its way. */
  async idle(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #wake(): void {
    if (this.#busy) return;
    this.#busy = true;
    queueMicrotask(() => this.#next());
  }

  #next(): void {
    if (this.#between !== undefined) {
      this.#between();
      return;
    }
    if (this.#files.isFenced) this.#refuseQueued([]);
    const group = this.#queue.splice(0, GROUP_RECORDS_MAX);
    if (group.length > 0) {
      this.#write(group);
      return;
    }
    this.#busy = false;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  #write(group: readonly Pending[]): void {
    const parts = group.map(({ bytes }) => bytes);
    for (const [place, bytes] of parts.entries()) {
      if (place > 0) setGroupPlace(this.#kernel, bytes, place);
    }
    this.#files.append(parts, (error) => {
      if (error === undefined) this.#finish(group);
      else this.#refuseQueued(group);
      this.#next();
    });
  }

  #finish(group: readonly Pending[]): void {
    for (const { start } of group) {
      this.#journaled = start;
      this.#aboveSnapshot.push(start);
    }
    for (const { done } of group) done();
  }

  /** Ops that were not written, and those behind them, hear why. */
  #refuseQueued(group: readonly Pending[]): void {
    const failed = [...group, ...this.#queue.splice(0)];
    this.#accepted = this.#journaled;
    for (const { done } of failed) done(this.#files.fault);
  }
}
