import type { Clock, Timer } from "@millrace/platform";

/** How late a deadline may be noticed. */
const LOOK_INTERVAL_MS = 250;

/** Something that is waited for until it is settled or its time is up. */
export interface Waiting {
  readonly dueMs: number;
  /** Undefined once it is settled or its time is up. */
  expire: (() => void) | undefined;
  earlier: Waiting | undefined;
  later: Waiting | undefined;
}

/**
 * Deadlines that are all equally far away, so that the oldest is always the first: one timer for all of them
 * costs less than one for each request.
 *
 * They are linked to each other, and what is settled lets go of everything. The tables of a `Set`, which V8
 * makes anew all the time when entries come and go, kept finished requests alive until a full collection.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** Calls `expire` when it is still waited for after the time all get. */
  add(expire: () => void): Waiting {
    const dueMs = this.#clock.monotonicMs() + this.#patienceMs;
    const waiting: Waiting = { dueMs, expire, earlier: this.#last, later: undefined };
    if (this.#last === undefined) this.#first = waiting;
    else this.#last.later = waiting;
    this.#last = waiting;
    this.#timer ??= this.#lookLater();
    return waiting;
  }

  /** It has come; its deadline is forgotten. False when it was settled, or its time was up, before. */
  settle(waiting: Waiting): boolean {
    if (waiting.expire === undefined) return false;
    const { earlier, later } = waiting;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    waiting.expire = waiting.earlier = waiting.later = undefined;
    return true;
  }

  #lookLater(): Timer {
    return this.#clock.setTimer(LOOK_INTERVAL_MS, () => {
      const nowMs = this.#clock.monotonicMs();
      while (this.#first !== undefined && this.#first.dueMs <= nowMs) {
        const { expire } = this.#first;
        this.settle(this.#first);
        expire?.();
      }
      this.#timer = this.#first === undefined ? undefined : this.#lookLater();
    });
  }
}
