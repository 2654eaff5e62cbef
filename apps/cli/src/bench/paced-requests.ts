import type { LoadClock } from "./load-clock.ts";

/** A number of requests and when they leave. */
export interface PacedRequests {
  readonly clock: LoadClock;
  readonly count: number;
  /** Requests without an answer at once. */
  readonly inFlight: number;
  /** Milliseconds from one request to the next; undefined lets each leave when there is room. */
  readonly intervalMs: number | undefined;
  /** Milliseconds before the first. */
  readonly delayMs: number;
  /** Ends the run between two requests, with its reason. */
  readonly signal: AbortSignal;
  /**
   * Makes one request and resolves when it is answered.
   * @param dueMs  when it had to leave, which may have been a while ago
   */
  readonly request: (index: number, dueMs: number) => Promise<void>;
}

/**
 * Makes requests, each at the time it is due.
 *
 * With an interval the times are set before the first request leaves: a stall moves none of them, the
 * requests it held up leave late, and who counts from `dueMs` sees what they waited. Counting from when they
 * left would hide exactly the slow part (coordinated omission).
 */
export async function runPaced({ intervalMs, delayMs, ...requests }: PacedRequests): Promise<void> {
  const { clock, count, inFlight, signal, request } = requests;
  const startMs = clock.nowMs() + delayMs;
  let next = 0;
  let isFailed = false;
  const lane = async () => {
    while (next < count && !isFailed) {
      signal.throwIfAborted();
      const index = next;
      next += 1;
      const dueMs = intervalMs === undefined ? clock.nowMs() : startMs + index * intervalMs;
      if (clock.nowMs() < dueMs) await clock.waitUntil(dueMs);
      await request(index, dueMs);
    }
  };
  const watched = async () => {
    try {
      await lane();
    } catch (error) {
      isFailed = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, watched));
}
