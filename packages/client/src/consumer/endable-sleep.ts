import type { Clock } from "@millrace/platform";
import { TIMER_MAX_MS } from "../client-options.ts";

/** A wait that somebody may end before its time; its timer does not outlive it. */
export class EndableSleep {
  /** Resolves after the time, or when it is ended. */
  readonly over: Promise<void>;
  #end: () => void = () => {};

  constructor(clock: Clock, delayMs: number) {
    this.over = new Promise((resolve) => {
      const timer = clock.setTimer(Math.min(delayMs, TIMER_MAX_MS), resolve);
      this.#end = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** Repeatable, also after the time is over. */
  end(): void {
    this.#end();
  }
}
