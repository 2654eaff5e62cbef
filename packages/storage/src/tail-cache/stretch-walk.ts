import {
  baseOffsetAt,
  baseTimestampAt,
  batchLengthAt,
  type ChecksumKernel,
  type Lease,
  messageCountAt,
} from "@millrace/framing";
import type { ReadJob } from "../partition/read-job.ts";
import type { TailStretch } from "./tail.ts";

/** How far a reply came: to the end of the stretch, to the end of what it may hold, or memory was short. */
export type StretchOutcome = "further" | "end" | "no-block";

/**
 * Adds to a reply what it wants of a stretch. `lease` is the stretch's own.
 * @throws CodedError as `ReadJob.take`
 */
export function takeStretch(
  kernel: ChecksumKernel,
  job: ReadJob,
  stretch: TailStretch,
  lease: Lease,
): StretchOutcome {
  const { view } = kernel.memory;
  const end = stretch.position + stretch.length;
  for (let position = stretch.position; position < end && !job.isComplete; ) {
    const length = batchLengthAt(view, position);
    const baseOffset = baseOffsetAt(view, position);
    const count = messageCountAt(view, position);
    if (baseOffset >= job.end) return "end";
    if (baseOffset + count > job.next) {
      const outcome = job.take({ lease, position, length, baseOffset, count });
      if (outcome === "no-block") return outcome;
    }
    position += length;
  }
  return "further";
}

/** Offset of the first batch of a stretch stamped at or after `timestamp`; the stretch holds one. */
export function firstStampedAt(kernel: ChecksumKernel, stretch: TailStretch, timestamp: number): number {
  const { view } = kernel.memory;
  const end = stretch.position + stretch.length;
  for (let position = stretch.position; position < end; position += batchLengthAt(view, position)) {
    if (baseTimestampAt(view, position) >= timestamp) return baseOffsetAt(view, position);
  }
  return stretch.endOffset;
}
