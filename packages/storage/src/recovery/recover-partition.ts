import { emptySegment, type Segment } from "../segment/segment.ts";
import { closeSegmentFiles, openSegmentFiles, type SegmentFiles } from "../segment/segment-files.ts";
import { adoptCheckpoint } from "./adopt-checkpoint.ts";
import { recoverClosed } from "./closed-partition.ts";
import { type Base, findBase } from "./find-base.ts";
import { judgeGone } from "./gone-segment.ts";
import { keptOrFault } from "./kept-or-fault.ts";
import { judgeNewer } from "./newer-segments.ts";
import { isLossKnown, type RecoverySource } from "./recovery-source.ts";
import {
  type InDoubt,
  type ReplayFinding,
  replaySegment,
  type SegmentSourceFiles,
} from "./replay-segment.ts";
import { type FoundSegment, scanDirectory } from "./scan-directory.ts";
import { checkSealed } from "./sealed-segments.ts";
import { setTailAside } from "./torn-tail.ts";

/** How recovery left the partition. */
export interface Recovery {
  /** Nothing was ever written: the first segment is to be made. */
  readonly isNew: boolean;
  /** The active `.ops` ends with a closing checkpoint. */
  readonly isClosed: boolean;
  /** The active segment has no `.log`, and needs none: no batch was ever written to it. */
  readonly lacksLog: boolean;
  /** A segment whose files end with a torn tail that was kept aside and is to be cut. */
  readonly torn: Segment | undefined;
  /** What was read back and may not survive a power loss, on a topic where it must. */
  readonly inDoubt: readonly InDoubt[];
  /** First offset nobody has seen; above `journaled.nextOffset` when the torn tail held messages. */
  readonly frontier: number;
  /**
   * The files of the active segment, open for writing, unless it is new or has no `.log`. Whoever gets them
   * closes them.
   */
  readonly files: SegmentFiles | undefined;
}

/**
 * Brings the state to the last op that verifies. Writes nothing but copies in quarantine; what is left to do
 * on the partition's own files is in the answer. Damage is in `state.fault` and in the segments.
 */
export async function recoverPartition(source: RecoverySource): Promise<Recovery> {
  const { options, state } = source;
  const { disk, path, kernel, log } = options;
  const found = await scanDirectory(disk, path, log);
  const { base, leftovers } = await findBase({ disk, path, kernel, log }, state.identity, found);
  const isNewest = leftovers.length === 0;
  const recovery =
    base === undefined ? nothingWritten() : await recoverFrom(source, { base, found, isNewest });
  const inDoubt = await orClosed(recovery, () => judgeLeftovers(source, leftovers, recovery));
  await orClosed(recovery, () => judgeGone(source, found));
  if (state.fault !== undefined) {
    log.error("The partition is damaged and takes no writes.", { path: state.path, error: state.fault });
  }
  return { ...recovery, inDoubt, isNew: recovery.isNew && state.fault === undefined };
}

/** What the segments newer than the base leave in doubt besides. */
async function judgeLeftovers(
  source: RecoverySource,
  leftovers: readonly FoundSegment[],
  { isNew, inDoubt }: Recovery,
): Promise<readonly InDoubt[]> {
  const all = [...inDoubt];
  for (const [at, leftover] of [...leftovers.entries()].toReversed()) {
    const doubted = await judgeNewer(source, leftover, { hasState: !isNew, next: leftovers[at - 1] });
    if (doubted !== undefined) all.push(doubted);
  }
  return all;
}

/** The files that recovery has opened are closed when what follows fails. */
async function orClosed<Result>({ files }: Recovery, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (files !== undefined) await closeSegmentFiles(files);
    throw error;
  }
}

function nothingWritten(): Recovery {
  return { ...AS_FOUND, isNew: true, frontier: 0 };
}

/** A partition with nothing to mend. */
const AS_FOUND = {
  isNew: false,
  isClosed: false,
  lacksLog: false,
  torn: undefined,
  inDoubt: [],
  files: undefined,
} as const;

/** What the state is recovered from. */
interface Findings {
  readonly base: Base;
  readonly found: readonly FoundSegment[];
  /** No segment follows that of the base: it stays the active one. */
  readonly isNewest: boolean;
}

async function recoverFrom(source: RecoverySource, findings: Findings): Promise<Recovery> {
  const { base, found } = findings;
  const recovery = await recoverActiveOf(source, findings);
  const obsolete = await orClosed(recovery, () => checkSealed(source, base, found));
  source.commits.removeOnceCommitted(source.state.adoptedOp, obsolete);
  return recovery;
}

async function recoverActiveOf(source: RecoverySource, { base, isNewest }: Findings): Promise<Recovery> {
  if (base.segment.logLength === undefined) return recoverWithoutLog(source, base);
  const { disk, path, role } = source.options;
  const goesOn = isNewest && role === "exclusive";
  const files = await openSegmentFiles(disk, path, base.segment, goesOn ? "write" : "read");
  try {
    const recovery = await recoverFiles(source, base, files);
    if (goesOn) return { ...recovery, files };
    await closeSegmentFiles(files);
    return recovery;
  } catch (error) {
    await closeSegmentFiles(files);
    throw error;
  }
}

async function recoverFiles(source: RecoverySource, base: Base, files: SegmentFiles): Promise<Recovery> {
  const { options, state } = source;
  if (!isLossKnown(source) && (await recoverClosed(source, base, files))) {
    return { ...AS_FOUND, isClosed: true, frontier: state.journaled.nextOffset };
  }
  const { segment, finding } = await replayBase(source, base, files);
  const mayCut = state.fault === undefined && options.role === "exclusive";
  const tail = { found: base.segment, segment, files, finding };
  const isTorn = mayCut && (await keptOrFault(source, () => setTailAside(source, tail)));
  const torn = isTorn === true ? segment : undefined;
  return { ...AS_FOUND, torn, inDoubt: doubtsOf(finding), frontier: finding.frontier };
}

/** The `.log` is gone. Harmless when no batch was ever written to it; the writer makes it anew. */
async function recoverWithoutLog(source: RecoverySource, base: Base): Promise<Recovery> {
  const { options, state } = source;
  const ops = await options.disk.openFile(state.filePath(base.segment, "ops"), "read");
  try {
    const { finding } = await replayBase(source, base, { ops, log: undefined });
    return {
      ...AS_FOUND,
      lacksLog: true,
      inDoubt: doubtsOf(finding),
      frontier: state.journaled.nextOffset,
    };
  } finally {
    await ops.close();
  }
}

function doubtsOf({ inDoubt }: ReplayFinding): InDoubt[] {
  return inDoubt === undefined ? [] : [inDoubt];
}

async function replayBase(
  source: RecoverySource,
  base: Base,
  files: SegmentSourceFiles,
): Promise<{ readonly segment: Segment; readonly finding: ReplayFinding }> {
  const { state } = source;
  adoptCheckpoint(state, base.checkpoint);
  const segment = state.active ?? emptySegment(base.segment);
  return { segment, finding: await replaySegment(source, segment, { found: base.segment, files, from: 0 }) };
}
