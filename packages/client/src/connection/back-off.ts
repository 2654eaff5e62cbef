import type { ReconnectOptions } from "../client-options.ts";

/**
 * Milliseconds to wait before attempt `attempt` (from 1): the interval grows by the factor up to the
 * maximum, and chance takes up to its share away, so that clients that were cut off together do not return
 * together.
 *
 * @param fraction  chance in [0, 1)
 */
export function backOffDelayMs(
  options: Required<ReconnectOptions>,
  attempt: number,
  fraction: number,
): number {
  // Nothing grows to nothing, also by a factor that has become infinite.
  const grown = options.intervalMs * options.factor ** (attempt - 1) || 0;
  const delayMs = Math.min(options.delayMaxMs, grown);
  return Math.round(delayMs * (1 - options.jitter * fraction));
}
