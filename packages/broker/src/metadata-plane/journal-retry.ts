import type { Clock, Timer } from "@millrace/platform";

/** Milliseconds until a replica whose journal found no space begins anew; then twice as long each time. */
const FIRST_DELAY_MS = 1000;
/** Longest wait, so that space is noticed soon. */
const DELAY_MAX_MS = 60_000;

/** When a replica that a full disk has silenced begins anew. */
export class JournalRetry {
  readonly #clock: Clock;
  #delayMs = FIRST_DELAY_MS;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The journal found the disk full: calls back when it is time to try again. */
  later(begin: () => void): void {
    if (this.#isStopped) return;
    this.#timer = this.#clock.setTimer(this.#delayMs, begin);
    this.#delayMs = Math.min(2 * this.#delayMs, DELAY_MAX_MS);
  }

  /** The journal was written. */
  worked(): void {
    this.#delayMs = FIRST_DELAY_MS;
  }

  /** Tries no more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }
}
