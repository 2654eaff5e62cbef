import type { Clock, Timer } from "../clock.ts";

/**
 * How far the fine clock may stray from the wall clock before it is set anew: more than a tick, less than a
 * person notices.
 */
const DRIFT_MAX_MS = 20;

/**
 * The real clock. Wall time has microseconds (the monotonic clock laid over `Date`) and follows a step of the
 * wall clock within one call. Timers never keep the process alive. `afterEvent` is the microtask queue: it
 * runs when the current callback of the event loop returns, before the next one starts.
 *
 * Wall time begins at `performance.timeOrigin`, which has its fraction of a millisecond. `Date.now()` drops
 * it: begun there, messages carry a time before the one at which a client on this machine sent them, and a
 * poll from that time on misses them.
 */
export function createNodeClock(): Clock {
  let offsetMs = performance.timeOrigin;
  return {
    wallMicros() {
      const monotonicMs = performance.now();
      const wallMs = Date.now();
      if (Math.abs(monotonicMs + offsetMs - wallMs) > DRIFT_MAX_MS) offsetMs = wallMs - monotonicMs;
      return Math.floor((monotonicMs + offsetMs) * 1000);
    },
    monotonicMs: () => performance.now(),
    setTimer: startTimer,
    afterEvent: queueMicrotask,
  };
}

/** Longer timers of Node fire at once: 24.8 days. */
const TIMEOUT_MAX_MS = 2_147_483_647;

/** One that never fires before its time, however far that is; `Infinity` is never. */
function startTimer(delayMs: number, callback: () => void): Timer {
  let timeout: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const isLast = leftMs <= TIMEOUT_MAX_MS;
    timeout = setTimeout(
      () => (isLast ? callback() : wait(leftMs - TIMEOUT_MAX_MS)),
      isLast ? leftMs : TIMEOUT_MAX_MS,
    );
    timeout.unref();
  };
  wait(delayMs);
  return { cancel: () => clearTimeout(timeout) };
}
