import type { Clock, Timer } from "@millrace/platform";

/** Milliseconds after which nodes are asked again that have not executed an op, or have not said so. */
const RETRY_MS = 100;

/** How it is found out how far the other nodes are. */
export interface MajorityExecutionOptions {
  readonly clock: Clock;
  /** Nodes that have to have executed an op, this one counted: the others commit nothing without them. */
  readonly quorum: number;
  /** Milliseconds until nobody knows. */
  readonly timeoutMs: number;
  /** Tells the others what is committed, and asks them for the last op that each has executed. */
  ask(heard: (from: number, commit: number) => void): void;
}

/**
 * Finds out whether so many nodes have executed an op of the metadata group that the others cannot commit
 * anything by what was before it: a message in a topic that is deleted. A majority that holds the op need not
 * have heard that it is committed.
 */
export class MajorityExecution {
  readonly #options: MajorityExecutionOptions;
  readonly #waiting = new Set<(isExecuted: boolean) => void>();
  /** Last op of which it is known. */
  #known = 0;
  #isStopped = false;

  constructor(options: MajorityExecutionOptions) {
    this.#options = options;
  }

  /**
   * Settles with true once enough nodes have executed an op that this one has; with false when it takes too
   * long.
   */
  of(op: number): Promise<boolean> {
    if (op <= this.#known) return Promise.resolve(true);
    const { clock, quorum, timeoutMs, ask } = this.#options;
    const untilMs = clock.monotonicMs() + timeoutMs;
    const heardOf = new Set<number>();
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const end = (isExecuted: boolean) => {
        timer?.cancel();
        if (!this.#waiting.delete(end)) return;
        if (isExecuted) this.#known = Math.max(this.#known, op);
        resolve(isExecuted);
      };
      const heard = (from: number, commit: number) => {
        if (commit >= op) heardOf.add(from);
        if (heardOf.size + 1 >= quorum) end(true);
      };
      const look = () => {
        if (this.#isStopped || clock.monotonicMs() >= untilMs) {
          end(false);
          return;
        }
        timer = clock.setTimer(RETRY_MS, look);
        ask(heard);
      };
      this.#waiting.add(end);
      look();
    });
  }

  /** Nobody knows any more. */
  stop(): void {
    this.#isStopped = true;
    for (const end of [...this.#waiting]) end(false);
  }
}
