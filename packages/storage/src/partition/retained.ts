import type { PartitionState } from "./partition-state.ts";

/**
 * A segment that will not change any more. Offsets are inclusive, `length` bytes of `.log`, the time micros.
 */
export interface SealedSegment {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly length: number;
  readonly lastTimestamp: number;
}

/** Sealed segments that readers see, oldest first. */
export function sealedSegments({ visible, active }: PartitionState): readonly SealedSegment[] {
  return visible
    .filter((segment) => segment !== active)
    .map(({ firstOffset, endOffset, logLength, lastTimestamp }) => ({
      firstOffset,
      lastOffset: endOffset - 1,
      length: logLength,
      lastTimestamp,
    }));
}

/** Committed messages in the segments that readers see. */
export function retainedMessages({ visible, committedNextOffset }: PartitionState): number {
  return visible.reduce(
    (sum, { firstOffset, endOffset }) =>
      sum + Math.max(0, Math.min(endOffset, committedNextOffset) - firstOffset),
    0,
  );
}

/** Bytes of `.log` in the segments that readers see. */
export function retainedLength({ visible }: PartitionState): number {
  return visible.reduce((sum, segment) => sum + segment.logLength, 0);
}
