import { ErrorCode, isCodedError } from "@millrace/errors";
import type { PartitionState } from "../partition/partition-state.ts";
import { compareSegmentNames, type SegmentName, segmentFileName } from "../segment/segment-name.ts";
import { damaged } from "./damage.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";
import { listUnproven } from "./unproven-segment.ts";

/**
 * Judges a state that ends with a segment behind which another one was begun: that one is gone, or nothing of
 * it can be told from one that never began. What was acknowledged in it is gone too. A replica may have lost
 * that, which is told before anything is changed; where it is damaged besides, and so takes no part, it does
 * not answer for the stored offsets. Where sealed segments are missing too, what is gone may have told of
 * their removal: that is a fault as well. Else it is a fault, also for the stored offsets, and nobody knows
 * where the offsets that were given out end.
 *
 * @param found  the segments of which there are files
 */
export async function judgeGone(
  { options, state }: RecoverySource,
  found: readonly FoundSegment[],
): Promise<void> {
  const next = namedSegment(state) ?? removersSegment(state);
  if (next === undefined) return;
  const path = state.filePath(next, "ops");
  const facts = { path, position: 0, firstOffset: next.firstOffset };
  const error = damaged(
    `The newest segment is gone: ${path} is missing, or nothing can be read of it.`,
    facts,
  );
  if (options.isReplica === true) {
    state.log.error(
      "The newest segment of a partition is gone; the replica may have lost what it held.",
      facts,
    );
    state.fault ??= missingSealed(state, found);
    if (state.fault !== undefined) state.offsetsFault ??= error;
    if (options.role === "exclusive") await options.onSegmentGone?.();
    return;
  }
  // What else is damaged may be so since before a repair.
  if (isCodedError(state.fault, ErrorCode.PartitionDamaged)) state.fault = error;
  listUnproven(state, next, { error, end: next.firstOffset + 1 });
  state.isEndUnknown = true;
}

/**
 * The segment behind all others that the latest note tells of. It need not be a note of the last one: files
 * of that one may be missing since before a repair.
 */
function namedSegment({ segments, active }: PartitionState): SegmentName | undefined {
  const next = segments.findLast(({ successor }) => successor !== undefined)?.successor;
  if (next === undefined || active === undefined) return undefined;
  return compareSegmentNames(next, active) > 0 ? next : undefined;
}

/**
 * A purge takes the messages away that were there once the segment behind it has begun: where they are gone,
 * that one was there, whether it was noted or not.
 */
function removersSegment({ active, journaled }: PartitionState): SegmentName | undefined {
  const { generation } = journaled;
  const isPurged = active !== undefined && active.generation < generation;
  return isPurged && active.damage !== undefined ? { generation, firstOffset: 0 } : undefined;
}

/** What is said of the first sealed segment whose messages have no file. */
function missingSealed(state: PartitionState, found: readonly FoundSegment[]) {
  const there = new Set(
    found
      .filter(({ logLength }) => logLength !== undefined)
      .map((segment) => segmentFileName(segment, "log")),
  );
  const isMissing = (segment: SegmentName) => !there.has(segmentFileName(segment, "log"));
  return state.segments.find((segment) => isMissing(segment) && !state.isTakenAway(segment))?.damage;
}
