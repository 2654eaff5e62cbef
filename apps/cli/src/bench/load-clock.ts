import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";

/** The time a load runs by: milliseconds of a clock that only runs forward. */
export interface LoadClock {
  nowMs(): number;
  /** Resolves at that time or as soon after it as possible. */
  waitUntil(ms: number): Promise<void>;
}

/**
 * Timers of Node are exact to a millisecond and late by up to one more. A request that leaves late shows in
 * its latency, so the last stretch is spent in turns of the event loop, which keep replies coming in.
 */
const TURNS_MS = 2;

/** The clock of a real run. @param nowMs  what it reads */
export function createLoadClock(nowMs: () => number): LoadClock {
  return {
    nowMs,
    waitUntil: async (ms) => {
      const waitMs = ms - nowMs() - TURNS_MS;
      if (waitMs >= 1) await sleep(Math.floor(waitMs));
      while (nowMs() < ms) await turn();
    },
  };
}
