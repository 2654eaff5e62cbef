import type { Clock, Log, LogFacts, Metrics, Timer } from "@millrace/platform";

/** What is done about a node that cannot write what it promises the others. */
export interface WedgedOptions {
  /** Milliseconds a replica may be silent before `onWedged` is called; 0 never calls it. */
  readonly timeoutMs: number;
  /** Ends the process: a supervisor starts it again, and it reads its files anew. */
  onWedged(reason: unknown): void;
}

interface Silence {
  readonly sinceMs: number;
  readonly facts: LogFacts;
  readonly error: unknown;
}

/**
 * Replicas of this node that say nothing, because what they would promise cannot be written. They are told in
 * the log and counted; when one of them has been silent for too long the process is to end.
 *
 * @see server-semantics section 19, `superblock_wedged_fatal_timeout`
 */
export class SilentGroups {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: WedgedOptions | undefined;
  /** By whoever speaks for the group, oldest first. */
  readonly #silences = new Map<object, Silence>();
  #timer: Timer | undefined;
  #isOver = false;

  constructor(platform: { clock: Clock; log: Log; metrics: Metrics }, options: WedgedOptions | undefined) {
    this.#clock = platform.clock;
    this.#log = platform.log;
    this.#options = options;
    platform.metrics.gauge(
      "replica_groups_silent",
      "Groups whose replica on this node is silent because it cannot write",
      () => this.#silences.size,
    );
  }

  /** How many are silent. */
  get count(): number {
    return this.#silences.size;
  }

  /** A replica is silent from now on; told once until `speaks`. */
  isSilent(speaker: object, facts: LogFacts, error: unknown): void {
    if (this.#isOver || this.#silences.has(speaker)) return;
    this.#silences.set(speaker, { sinceMs: this.#clock.monotonicMs(), facts, error });
    this.#watch();
  }

  /** A replica goes on, or its group is gone. */
  speaks(speaker: object): void {
    if (!this.#silences.delete(speaker)) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#watch();
  }

  /** The node stops in order. */
  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  /** The oldest silence decides when the process ends. */
  #watch(): void {
    const timeoutMs = this.#options?.timeoutMs ?? 0;
    const [oldest] = this.#silences.values();
    if (this.#isOver || timeoutMs === 0 || oldest === undefined || this.#timer !== undefined) return;
    const leftMs = oldest.sinceMs + timeoutMs - this.#clock.monotonicMs();
    this.#timer = this.#clock.setTimer(Math.max(0, leftMs), () => this.#end(oldest));
  }

  #end({ facts, error }: Silence): void {
    this.#isOver = true;
    const text =
      "A replica of this node could not write for too long; the process ends so that it is started again.";
    this.#log.error(text, { ...facts, error, timeoutMs: this.#options?.timeoutMs });
    this.#options?.onWedged(error);
  }
}
