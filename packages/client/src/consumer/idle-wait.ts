import type { Clock } from "@millrace/platform";
import { TIMER_MAX_MS } from "../client-options.ts";
import { EndableSleep } from "./endable-sleep.ts";

/** While nothing comes, the wait between rounds doubles up to this many times the first one. */
const IDLE_FACTOR_MAX = 16;

/** Waits between rounds that brought nothing, longer each time. */
export class IdleWait {
  readonly #clock: Clock;
  readonly #firstMs: number;
  #delayMs = 0;
  #sleep: EndableSleep | undefined;

  constructor(clock: Clock, firstMs: number) {
    this.#clock = clock;
    this.#firstMs = firstMs;
  }

  /** Something came: the next wait is the first one again. */
  reset(): void {
    this.#delayMs = 0;
  }

  wait(): Promise<void> {
    const doubled = this.#delayMs === 0 ? this.#firstMs : this.#delayMs * 2;
    this.#delayMs = Math.min(doubled, this.#firstMs * IDLE_FACTOR_MAX, TIMER_MAX_MS);
    this.#sleep = new EndableSleep(this.#clock, this.#delayMs);
    return this.#sleep.over;
  }

  /** Ends a wait that is running. */
  wake(): void {
    this.#sleep?.end();
  }
}
