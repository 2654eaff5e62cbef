import type { DiskFile } from "@millrace/platform";
import { SparseIndex } from "../index-file/sparse-index.ts";
import type { Segment } from "../segment/segment.ts";
import type { SegmentName } from "../segment/segment-name.ts";
import { type ActiveFinding, recoverActive } from "./active-segment.ts";
import { noteJournaledEnd } from "./adopt-checkpoint.ts";
import { damaged } from "./damage.ts";
import { provenEndOf, type SegmentEnd } from "./proven-end.ts";
import { isLossKnown, type RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";

/** The files of a segment to replay; the `.log` may be gone. */
export interface SegmentSourceFiles {
  readonly ops: DiskFile;
  readonly log: DiskFile | undefined;
}

/** How the replay of a segment ended. */
export interface ReplayFinding extends ActiveFinding {
  /** What a persisted topic has read back behind its last proven datasync; nothing on other topics. */
  readonly inDoubt: InDoubt | undefined;
}

/** The end of a segment's files that reads well and may not be on the disk. */
export interface InDoubt {
  readonly segment: SegmentName;
  readonly from: SegmentEnd;
  readonly to: SegmentEnd;
}

/**
 * Replays the ops of the last segment into the state, which stands before them, from `from` in its `.ops` on.
 * Damage is in the state's and the segment's faults afterwards.
 */
export async function replaySegment(
  source: RecoverySource,
  segment: Segment,
  place: { readonly found: FoundSegment; readonly files: SegmentSourceFiles; readonly from: number },
): Promise<ReplayFinding> {
  const { options, state, commits } = source;
  const { files, from, found } = place;
  segment.index = new SparseIndex();
  const isPersisted = options.durability === "persisted";
  const proven = provenEndOf(options);
  const finding = await recoverActive({
    ...{ state, commits, segment, files, from },
    opsLength: found.opsLength ?? 0,
    logLength: found.logLength ?? 0,
    isPersisted,
    isLossKnown: isLossKnown(source),
    proven,
    kernel: options.kernel,
    pool: options.pool,
  });
  if (finding.damage !== undefined) takeDamage(source, segment, finding);
  if (files.log === undefined && !segment.isEmpty) markLogMissing(source, segment);
  const { opsLength, logLength } = segment;
  return { ...finding, inDoubt: proven && { segment, from: proven.end, to: { opsLength, logLength } } };
}

/** Good things follow a bad one: what was seen stays numbered, nothing is written any more. */
function takeDamage(source: RecoverySource, segment: Segment, finding: ActiveFinding): void {
  const { state } = source;
  if (finding.damage === undefined) return;
  const { file: path, position } = finding.damage;
  const error = damaged(`Bytes in the middle of ${path} are damaged (position ${position}).`, {
    path,
    position,
  });
  state.fault ??= error;
  if (finding.offsetsUnknown) state.offsetsFault ??= error;
  segment.endOffset = Math.max(segment.endOffset, finding.frontier);
  state.journaled.nextOffset = Math.max(state.journaled.nextOffset, finding.frontier);
  noteJournaledEnd(state, state.journaled.nextOffset);
}

function markLogMissing({ state }: RecoverySource, segment: Segment): void {
  const path = state.filePath(segment, "log");
  segment.damage = damaged(`The file ${path} is missing.`, { path, firstOffset: segment.firstOffset });
  state.fault ??= segment.damage;
}
