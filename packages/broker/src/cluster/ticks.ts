import type { Clock, Timer } from "@millrace/platform";

/** Milliseconds of a tick of consensus. */
export const TICK_MS = 10;
/** Ticks made up for at once: a process that stood still for long does not rush through its time-outs. */
const TICKS_AT_ONCE_MAX = 10;

/**
 * Calls `tick` for each 10 ms that pass.
 *
 * @returns stops it
 */
export function startTicks(clock: Clock, tick: () => void): () => void {
  let lastMs = clock.monotonicMs();
  const run = () => {
    const due = Math.floor((clock.monotonicMs() - lastMs) / TICK_MS);
    lastMs += due * TICK_MS;
    timer = clock.setTimer(TICK_MS, run);
    for (let count = Math.min(due, TICKS_AT_ONCE_MAX); count > 0; count -= 1) tick();
  };
  let timer: Timer = clock.setTimer(TICK_MS, run);
  return () => timer.cancel();
}
