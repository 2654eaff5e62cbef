import type { PollingStrategy } from "@millrace/protocol";
import type { ShownPartition } from "../shown-partition.ts";

/** Where a poll starts reading, or nothing when there is nothing to read. */
export type PollPosition = { readonly offset: number } | { readonly timestamp: number } | undefined;

/**
 * Turns a polling strategy into a position.
 *
 * Values that clients supply may be any u64; whatever lies beyond the readable end reads nothing.
 * @param stored  offset this consumer has stored, for `next`
 * @see wire-protocol section 11
 */
export function pollPosition(
  strategy: PollingStrategy,
  partition: ShownPartition,
  options: { readonly count: number; readonly stored: number | undefined },
): PollPosition {
  const end = partition.committedNextOffset;
  const from = (offset: number): PollPosition => (offset < end ? { offset } : undefined);
  switch (strategy.kind) {
    case "offset":
      return strategy.offset < BigInt(end) ? { offset: Number(strategy.offset) } : undefined;
    case "timestamp":
      return strategy.micros <= BigInt(Number.MAX_SAFE_INTEGER)
        ? { timestamp: Number(strategy.micros) }
        : undefined;
    case "first":
      return from(partition.firstOffset);
    case "last":
      return from(Math.max(0, end - options.count));
    case "next":
      return from(options.stored === undefined ? partition.firstOffset : options.stored + 1);
  }
}
