import type { Clock, Timer } from "@millrace/platform";

/** Milliseconds after which nodes are asked again that have not executed an op, or have not said so. */
const RETRY_MS = 100;
/** Milliseconds between two questions at least: what begins to wait in between is asked about together. */
const GATHER_MS = 10;

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

/** An op that is waited for. */
interface Waiting {
  readonly op: number;
  readonly untilMs: number;
  /** Nodes that have executed it. */
  readonly heardOf: Set<number>;
  readonly resolve: (isExecuted: boolean) => void;
}

/**
 * Finds out whether so many nodes have executed an op of the metadata group that the others cannot commit
 * anything by what was before it: a message in a topic that is deleted. A majority that holds the op need not
 * have heard that it is committed. However many ops are waited for, one question is asked for all of them.
 */
export class MajorityExecution {
  readonly #options: MajorityExecutionOptions;
  readonly #waiting = new Set<Waiting>();
  /** Last op of which it is known. */
  #known = 0;
  #isStopped = false;
  #timer: Timer | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: MajorityExecutionOptions) {
    this.#options = options;
  }

  /**
   * Settles with true once enough nodes have executed an op that this one has; with false when it takes too
   * long.
   */
  of(op: number): Promise<boolean> {
    if (op <= this.#known) return Promise.resolve(true);
    if (this.#isStopped) return Promise.resolve(false);
    const { clock, timeoutMs } = this.#options;
    const nowMs = clock.monotonicMs();
    return new Promise((resolve) => {
      this.#waiting.add({ op, untilMs: nowMs + timeoutMs, heardOf: new Set(), resolve });
      const restMs = this.#askedMs + GATHER_MS - nowMs;
      if (restMs <= 0) this.#look();
      else this.#lookIn(restMs);
    });
  }

  #lookIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.setTimer(delayMs, () => this.#look());
  }

  #look(): void {
    const { clock, ask } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const one of [...this.#waiting]) if (nowMs >= one.untilMs) this.#end(one, false);
    if (this.#waiting.size === 0) return;
    this.#askedMs = nowMs;
    this.#lookIn(RETRY_MS);
    ask((from, commit) => this.#heard(from, commit));
  }

  #heard(from: number, commit: number): void {
    for (const one of [...this.#waiting]) {
      if (commit < one.op) continue;
      one.heardOf.add(from);
      if (one.heardOf.size + 1 >= this.#options.quorum) this.#end(one, true);
    }
  }

  #end(one: Waiting, isExecuted: boolean): void {
    if (!this.#waiting.delete(one)) return;
    if (this.#waiting.size === 0) this.#timer?.cancel();
    if (isExecuted) this.#known = Math.max(this.#known, one.op);
    one.resolve(isExecuted);
  }

  /** Nobody knows any more. */
  stop(): void {
    this.#isStopped = true;
    for (const one of [...this.#waiting]) this.#end(one, false);
  }
}
