import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Log, LogFacts } from "@millrace/platform";
import type { Input } from "@millrace/vsr";
import type { SilentGroups } from "./silent-groups.ts";

/** Milliseconds between two tries of a write that found the disk full. */
const SPACE_INTERVAL_MS = 1000;

const SILENT_UNTIL_STARTED =
  "This node cannot keep what it promises the others; it is silent until it is started again.";
const SILENT_FOR_NOW =
  "A replica is silent: its disk refuses what it has to write. It is tried again after 1 to 60 s; make space.";

/** What the side of a group that faces the others works with. */
export interface ReplicaLinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Which group it is. */
  readonly facts: LogFacts;
  readonly silent: SilentGroups;
  step(input: Input): void;
}

/**
 * What every group's host owes its replica besides the messages: nothing reaches it once it is stopped, its
 * journal is changed as a whole by one thing after the other, and what could not be written stops it.
 *
 * A view or a cut that finds the disk full is written once there is space. Any other failed write of a view,
 * a cut or another replica's state stops it: a replica that may forget what it said is silent until it is
 * started again.
 */
export class ReplicaLink {
  readonly #options: ReplicaLinkOptions;
  #isStopped = false;
  #changes: Promise<void> = Promise.resolve();
  #kept: Promise<void> = Promise.resolve();

  constructor(options: ReplicaLinkOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Nothing is said, heard or written any more. */
  stop(): void {
    this.#isStopped = true;
    this.#options.silent.speaks(this);
  }

  /** Hands an input to the replica, unless it is stopped. */
  hear(input: Input): void {
    if (!this.#isStopped) this.#options.step(input);
  }

  /**
   * Does a write that must not fail behind those before it, then goes on. A full disk is waited for; it may
   * be done several times then. Any other failure stops the replica.
   */
  keep(write: () => Promise<void>, next: () => void): void {
    this.#kept = this.#kept
      .then(() => this.#untilThereIsSpace(write))
      .then(next, (error: unknown) => {
        if (!this.#isStopped) this.fail(error);
      });
  }

  /**
   * What was promised cannot be kept.
   * @param isTriedAgain  the replica begins anew by itself, when the disk lets it
   */
  fail(error: unknown, isTriedAgain = false): void {
    this.#isStopped = true;
    const { log, facts, silent } = this.#options;
    log.error(isTriedAgain ? SILENT_FOR_NOW : SILENT_UNTIL_STARTED, { ...facts, error });
    silent.isSilent(this, facts, error);
  }

  /** Settles when what was to be kept by now is, or will never be. */
  allKept(): Promise<void> {
    return this.#kept;
  }

  /** Changes the journal as a whole, behind the changes before: a cut, another replica's state. */
  changeJournal(change: () => Promise<void>): Promise<void> {
    const changed = this.#changes.then(change);
    this.#changes = changed.catch(() => undefined);
    return changed;
  }

  /** Settles when the journal is not being changed as a whole. */
  journalIdle(): Promise<void> {
    return this.#changes;
  }

  async #untilThereIsSpace(write: () => Promise<void>): Promise<void> {
    const { clock, log, facts, silent } = this.#options;
    for (let tries = 0; !this.#isStopped; tries += 1) {
      try {
        await write();
        silent.speaks(this);
        return;
      } catch (error) {
        if (!isCodedError(error, ErrorCode.DiskFull)) throw error;
        if (this.#isStopped) return;
        if (tries === 0) log.error("A replica is silent until its full disk has space.", { ...facts, error });
        silent.isSilent(this, facts, error);
      }
      await new Promise<void>((resolve) => void clock.setTimer(SPACE_INTERVAL_MS, resolve));
    }
  }
}
