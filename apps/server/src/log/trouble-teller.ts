import type { Clock, Counter } from "@millrace/platform";

/** A full disk loses thousands of lines; that needs to be said once. */
const TOLD_EVERY_MS = 60_000;

/**
 * Counts troubles of the log itself and tells the first of each minute on standard error, past the log.
 *
 * @param what  completes the sentence "millrace-server: WHAT: REASON"
 */
export function createTroubleTeller(parts: {
  readonly clock: Clock;
  readonly counter: Counter;
  readonly what: string;
}): (error: Error) => void {
  let toldMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    parts.counter.add(1);
    const nowMs = parts.clock.monotonicMs();
    if (nowMs - toldMs < TOLD_EVERY_MS) return;
    toldMs = nowMs;
    process.stderr.write(`millrace-server: ${parts.what}: ${error.message}\n`);
  };
}
