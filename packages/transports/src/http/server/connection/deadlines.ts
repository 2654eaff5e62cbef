import type { Clock, Timer } from "@millrace/platform";

/** How late a deadline may be noticed. */
const LOOK_INTERVAL_MS = 250;

/** Something that is waited for until it is settled or its time is up. */
export interface Waiting {
  readonly dueMs: number;
  readonly expire: () => void;
}

/**
 * Deadlines that are all equally far away, so that the oldest is always the first: one timer for all of them
 * costs less than one for each request.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #waiting = new Set<Waiting>();
  #timer: Timer | undefined;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** Calls `expire` when it is still waited for after the time all get. */
  add(expire: () => void): Waiting {
    const waiting = { dueMs: this.#clock.monotonicMs() + this.#patienceMs, expire };
    this.#waiting.add(waiting);
    this.#timer ??= this.#lookLater();
    return waiting;
  }

  /** It has come; its deadline is forgotten. False when its time was up before. */
  settle(waiting: Waiting): boolean {
    return this.#waiting.delete(waiting);
  }

  #lookLater(): Timer {
    return this.#clock.setTimer(LOOK_INTERVAL_MS, () => {
      const nowMs = this.#clock.monotonicMs();
      for (const waiting of this.#waiting) {
        if (waiting.dueMs > nowMs) break;
        this.#waiting.delete(waiting);
        waiting.expire();
      }
      this.#timer = this.#waiting.size === 0 ? undefined : this.#lookLater();
    });
  }
}
