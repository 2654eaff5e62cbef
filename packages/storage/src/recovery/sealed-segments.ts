import type { PartitionState } from "../partition/partition-state.ts";
import { Segment } from "../segment/segment.ts";
import { compareSegmentNames, segmentFileName } from "../segment/segment-name.ts";
import { damaged } from "./damage.ts";
import { type Base, findBase } from "./find-base.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";

/**
 * Compares the sealed segments that the state lists with the files that are there: a missing file is damage
 * of its segment only, and no news when a replayed op takes the segment away: its removal had begun. Answers
 * the segments of ours that an unfinished removal left behind.
 */
export async function checkSealed(
  source: RecoverySource,
  base: Base,
  found: readonly FoundSegment[],
): Promise<Segment[]> {
  const { state } = source;
  const unlisted = new Map(found.map((segment) => [segmentFileName(segment, "log"), segment]));
  for (const segment of state.segments) {
    const name = segmentFileName(segment, "log");
    if (compareSegmentNames(segment, base.segment) < 0) checkFiles(state, segment, unlisted.get(name));
    unlisted.delete(name);
  }
  const obsolete: Segment[] = [];
  for (const segment of unlisted.values()) {
    if (compareSegmentNames(segment, base.segment) >= 0) continue;
    if (await isLeftBehind(source, base, segment)) obsolete.push(asFound(segment));
    else warnStray(source, segment);
  }
  return obsolete;
}

/** A segment of which only the lengths of its files are known. */
function asFound({ generation, firstOffset, logLength = 0, opsLength = 0 }: FoundSegment): Segment {
  const row = { firstOffset, endOffset: firstOffset, logLength, opsLength, lastTimestamp: 0 };
  return new Segment(generation, row);
}

/** A stray pair between good segments is somebody's: warned about, never deleted. */
function warnStray(source: RecoverySource, segment: FoundSegment): void {
  const path = source.state.filePath(segment, "log");
  source.options.log.warn("A segment that does not belong between the others is ignored.", { path });
}

function checkFiles(state: PartitionState, segment: Segment, files: FoundSegment | undefined): void {
  const path = state.filePath(segment, "log");
  const range = { firstOffset: segment.firstOffset, lastOffset: segment.endOffset - 1 };
  const isExpected = state.isTakenAway(segment);
  if (files?.logLength === undefined) {
    const text = `The file ${path} with offsets ${range.firstOffset} to ${range.lastOffset} is missing.`;
    segment.damage = damaged(text, { path, ...range });
    if (isExpected) return;
    state.log.error("A segment file is missing; reads of its offsets are refused.", { path, ...range });
  } else if (files.logLength < segment.logLength && !isExpected) {
    const facts = { path, length: files.logLength, expectedLength: segment.logLength };
    state.log.error("A sealed segment file is too short; reads of its end are refused.", facts);
  } else if (files.logLength > segment.logLength) {
    state.log.warn("Bytes behind the end of a sealed segment are ignored.", { path });
  }
}

/**
 * True for an older segment that a purge, a truncation or an empty start left behind, proven by its first
 * record.
 */
async function isLeftBehind(source: RecoverySource, base: Base, segment: FoundSegment): Promise<boolean> {
  const { options, state } = source;
  const isOlder = segment.generation < base.segment.generation;
  const isBelow = segment.firstOffset < (state.segments[0]?.firstOffset ?? 0);
  const isEmpty = (segment.logLength ?? 0) === 0;
  if (segment.opsLength === undefined || !(isOlder || isBelow || isEmpty)) return false;
  const { disk, path, kernel, log } = options;
  return (await findBase({ disk, path, kernel, log }, state.identity, [segment])).base !== undefined;
}
