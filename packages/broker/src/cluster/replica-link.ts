import type { Log, LogFacts } from "@millrace/platform";
import type { Input } from "@millrace/vsr";

/** What the side of a group that faces the others works with. */
export interface ReplicaLinkOptions {
  readonly log: Log;
  /** Which group it is. */
  readonly facts: LogFacts;
  step(input: Input): void;
}

/**
 * What every group's host owes its replica besides the messages: nothing reaches it once it is stopped, its
 * journal is changed as a whole by one thing after the other, and what could not be written stops it.
 *
 * A failed write of a view, a cut or another replica's state stops it for good: a replica that may forget
 * what it said is silent until it is started again.
 */
export class ReplicaLink {
  readonly #options: ReplicaLinkOptions;
  #isStopped = false;
  #changes: Promise<void> = Promise.resolve();

  constructor(options: ReplicaLinkOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Nothing is said, heard or written any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Hands an input to the replica, unless it is stopped. */
  hear(input: Input): void {
    if (!this.#isStopped) this.#options.step(input);
  }

  /** Goes on behind a write that must not fail: a failure stops the replica. */
  after(work: Promise<void>, next: () => void): void {
    work.then(next, (error: unknown) => this.fail(error));
  }

  /** What was promised cannot be kept. */
  fail(error: unknown): void {
    this.stop();
    const text = "This node cannot keep what it promises the others; it is silent until it is started again.";
    this.#options.log.error(text, { ...this.#options.facts, error });
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
}
