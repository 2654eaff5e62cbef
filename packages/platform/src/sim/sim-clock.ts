import type { Clock, Timer } from "../clock.ts";

/** 2024-01-01. */
const START_MICROS = 1_704_067_200_000_000;

interface SimEvent {
  readonly atMs: number;
  readonly sequence: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** What a clock that runs waits for after each event. */
export interface SimClockOptions {
  /** Wall clock in microseconds at monotonic time zero; default 2024-01-01. */
  readonly startMicros?: number;
  /**
   * Nothing but timers of this clock and promises moves what runs on it: no file, thread or real timer. Then
   * an event is over once no promise is left that can settle, which takes no turn of the event loop.
   */
  readonly isClosed?: boolean;
}

/**
 * Time that stands still until a test moves it. Timers fire in order of time, then of setting.
 *
 * `afterEvent` runs when the timer callback that called it returns; outside of any timer it runs as a
 * microtask.
 * `advance` is for code that works by callbacks; `run` also lets promises settle after each event.
 */
export class SimClock implements Clock {
  readonly #startMicros: number;
  readonly #isClosed: boolean;
  readonly #settled: () => Promise<void>;
  readonly #events: SimEvent[] = [];
  #afterEvent: (() => void)[] = [];
  #nowMs = 0;
  #sequence = 0;
  #insideEvent = false;

  constructor({ startMicros = START_MICROS, isClosed = false }: SimClockOptions = {}) {
    this.#startMicros = startMicros;
    this.#isClosed = isClosed;
    this.#settled = isClosed ? promisesSettled : everythingSettled;
  }

  wallMicros(): number {
    return this.#startMicros + Math.floor(this.#nowMs * 1000);
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const event: SimEvent = { atMs, sequence: this.#sequence++, callback, cancelled: false };
    this.#insert(event);
    return {
      cancel: () => {
        event.cancelled = true;
      },
    };
  }

  afterEvent(callback: () => void): void {
    if (this.#afterEvent.push(callback) === 1 && !this.#insideEvent) {
      queueMicrotask(() => {
        if (!this.#insideEvent) this.#runAfterEvent();
      });
    }
  }

  /** Time of the next timer in monotonic milliseconds; nothing when none is set. */
  nextTimerMs(): number | undefined {
    while (this.#events[0]?.cancelled) this.#events.shift();
    return this.#events[0]?.atMs;
  }

  /** Moves time on by `durationMs` and fires what falls due, also timers set on the way. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    while (this.#fireNext(endMs)) {}
    this.#nowMs = endMs;
  }

  /** As `advance`, and after every event waits until the promises it set off have settled. */
  async run(durationMs: number): Promise<void> {
    const endMs = this.#nowMs + durationMs;
    await this.#settled();
    while (this.#fireNext(endMs)) await this.#settled();
    this.#nowMs = endMs;
  }

  /**
   * As `run(1)` again and again until `isDone` says so afterwards, or `maxMs` have passed; but a closed clock
   * skips milliseconds in which nothing falls due.
   *
   * @returns whether it is done
   */
  async runUntil(isDone: () => boolean, maxMs: number): Promise<boolean> {
    const endMs = this.#nowMs + maxMs;
    await this.#settled();
    for (;;) {
      const stepEndMs = this.#nowMs + 1;
      while (this.#fireNext(stepEndMs)) await this.#settled();
      this.#nowMs = stepEndMs;
      if (isDone()) return true;
      if (this.#nowMs >= endMs) return false;
      if (this.#isClosed) this.#skipEmptySteps(endMs);
      else await this.#settled();
    }
  }

  /** One step after the other, so that the sum is the same number as without skipping. */
  #skipEmptySteps(endMs: number): void {
    const nextMs = this.nextTimerMs() ?? endMs;
    while (this.#nowMs + 1 < nextMs && this.#nowMs + 1 < endMs) this.#nowMs += 1;
  }

  #fireNext(endMs: number): boolean {
    const atMs = this.nextTimerMs();
    if (atMs === undefined || atMs > endMs) return false;
    const event = this.#events.shift();
    this.#nowMs = Math.max(this.#nowMs, atMs);
    this.#insideEvent = true;
    try {
      event?.callback();
      this.#runAfterEvent();
    } finally {
      this.#insideEvent = false;
    }
    return true;
  }

  #runAfterEvent(): void {
    while (this.#afterEvent.length > 0) {
      const callbacks = this.#afterEvent;
      this.#afterEvent = [];
      for (const callback of callbacks) callback();
    }
  }

  /** Keeps the events sorted; equal times stay in the order they were set. */
  #insert(event: SimEvent): void {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.atMs ?? 0) <= event.atMs) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
  }
}

/** A turn of the event loop: every promise that can settle without time has settled. */
function everythingSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Ticks of the process come when no microtask is left. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
