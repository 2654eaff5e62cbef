import type { ClusterTiming } from "./cluster-timing.ts";
import type { Random } from "./random.ts";

/** Repetitions wait up to this power of two times the interval: 16. */
const BACKOFF_EXPONENT_MAX = 4;

/** One thing that comes due after a number of ticks, and again, later each time. */
export class Timer {
  readonly #random: Random;
  #interval = 1;
  #dueTick = Number.POSITIVE_INFINITY;
  #firings = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  get isRunning(): boolean {
    return this.#dueTick !== Number.POSITIVE_INFINITY;
  }

  /** Due `interval` ticks from now; forgets how often it fired. */
  start(nowTick: number, interval: number): void {
    this.#interval = interval;
    this.#firings = 0;
    this.#dueTick = nowTick + interval;
  }

  stop(): void {
    this.#dueTick = Number.POSITIVE_INFINITY;
  }

  /** True when due; it is then due again after twice the time, with up to a quarter of it as jitter. */
  fires(nowTick: number): boolean {
    if (nowTick < this.#dueTick) return false;
    this.#firings += 1;
    const wait = this.#interval << Math.min(this.#firings, BACKOFF_EXPONENT_MAX);
    this.#dueTick = nowTick + wait + this.#random.below((wait >> 2) + 1);
    return true;
  }

  /** True when due; it is then due again after the same time. */
  firesEvenly(nowTick: number): boolean {
    if (nowTick < this.#dueTick) return false;
    this.#dueTick = nowTick + this.#interval;
    return true;
  }

  /** True when due, once. */
  firesOnce(nowTick: number): boolean {
    if (nowTick < this.#dueTick) return false;
    this.stop();
    return true;
  }
}

/** Everything a replica of several waits for. */
export class Timers {
  readonly timing: ClusterTiming;
  /** Until this replica asks for the next view. */
  readonly patience: Timer;
  readonly commitBroadcast: Timer;
  readonly prepareRetransmit: Timer;
  readonly askForView: Timer;
  readonly viewChangeRetransmit: Timer;
  readonly requestStartView: Timer;
  readonly gapDebounce: Timer;
  readonly repairRetry: Timer;

  constructor(timing: ClusterTiming, random: Random) {
    this.timing = timing;
    this.patience = new Timer(random);
    this.commitBroadcast = new Timer(random);
    this.prepareRetransmit = new Timer(random);
    this.askForView = new Timer(random);
    this.viewChangeRetransmit = new Timer(random);
    this.requestStartView = new Timer(random);
    this.gapDebounce = new Timer(random);
    this.repairRetry = new Timer(random);
  }
}
