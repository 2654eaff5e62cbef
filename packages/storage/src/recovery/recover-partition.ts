import type { DiskFile } from "@millrace/platform";
import { emptySegment, type Segment } from "../segment/segment.ts";
import { closeSegmentFiles } from "../segment/segment-files.ts";
import { adoptCheckpoint } from "./adopt-checkpoint.ts";
import { recoverClosed } from "./closed-partition.ts";
import { type Base, findBase } from "./find-base.ts";
import { keptOrFault } from "./kept-or-fault.ts";
import { judgeNewer } from "./newer-segments.ts";
import type { RecoverySource } from "./recovery-source.ts";
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
  const recovery = base === undefined ? nothingWritten() : await recoverFrom(source, base, found);
  const inDoubt = [...recovery.inDoubt];
  for (const leftover of leftovers.toReversed()) {
    const doubted = await judgeNewer(source, leftover, base !== undefined);
    if (doubted !== undefined) inDoubt.push(doubted);
  }
  if (state.fault !== undefined) {
    log.error("The partition is damaged and takes no writes.", { path: state.path, error: state.fault });
  }
  return { ...recovery, inDoubt, isNew: recovery.isNew && state.fault === undefined };
}

function nothingWritten(): Recovery {
  return { isNew: true, isClosed: false, lacksLog: false, torn: undefined, inDoubt: [], frontier: 0 };
}

async function recoverFrom(
  source: RecoverySource,
  base: Base,
  found: readonly FoundSegment[],
): Promise<Recovery> {
  const { commits } = source;
  const recovery = await recoverActiveOf(source, base);
  const obsolete = await checkSealed(source, base, found);
  commits.removeOnceCommitted(base.checkpoint.op, obsolete);
  return recovery;
}

async function recoverActiveOf(source: RecoverySource, base: Base): Promise<Recovery> {
  const { options, state } = source;
  const ops = await options.disk.openFile(state.filePath(base.segment, "ops"), "read");
  if (base.segment.logLength === undefined) {
    try {
      return await recoverWithoutLog(source, base, ops);
    } finally {
      await ops.close();
    }
  }
  const log = await options.disk.openFile(state.filePath(base.segment, "log"), "read");
  const files = { log, ops };
  try {
    if (await recoverClosed(source, base, files)) {
      return {
        isNew: false,
        isClosed: true,
        lacksLog: false,
        torn: undefined,
        inDoubt: [],
        frontier: state.journaled.nextOffset,
      };
    }
    const { segment, finding } = await replayBase(source, base, files);
    const mayCut = state.fault === undefined && options.role === "exclusive";
    const tail = { found: base.segment, segment, files, finding };
    const isTorn = mayCut && (await keptOrFault(source, () => setTailAside(source, tail)));
    const torn = isTorn === true ? segment : undefined;
    const { frontier } = finding;
    return { isNew: false, isClosed: false, lacksLog: false, torn, inDoubt: doubtsOf(finding), frontier };
  } finally {
    await closeSegmentFiles(files);
  }
}

/** The `.log` is gone. Harmless when no batch was ever written to it; the writer makes it anew. */
async function recoverWithoutLog(source: RecoverySource, base: Base, ops: DiskFile): Promise<Recovery> {
  const { state } = source;
  const { finding } = await replayBase(source, base, { ops, log: undefined });
  return {
    isNew: false,
    isClosed: false,
    lacksLog: true,
    torn: undefined,
    inDoubt: doubtsOf(finding),
    frontier: state.journaled.nextOffset,
  };
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
