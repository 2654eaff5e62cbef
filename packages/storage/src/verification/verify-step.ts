import { ErrorCode, isCodedError } from "@millrace/errors";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { SUCCESSOR_MARK_LENGTH, wasSuccessorMark } from "../op-record/successor-mark.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { isAbsent, readAt } from "../segment/file-calls.ts";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { Segment } from "../segment/segment.ts";
import type { SegmentFileKind } from "../segment/segment-name.ts";
import { SegmentCheck } from "./segment-check.ts";
import { Tally, type VerifyStep } from "./tally.ts";
import { type SegmentPlace, VERIFY_FROM_START, type VerifyCursor } from "./verify-cursor.ts";

/** One step: from where, and after how many bytes it ends. A batch is never cut. */
export interface VerifyRequest {
  readonly from: VerifyCursor;
  readonly lengthMax: number;
}

/** What a step works with. */
export interface VerifySource {
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly state: PartitionState;
  readonly handles: ReadHandles;
}

/**
 * Checks a stretch of a partition's visible segments: every op record and every batch, header and frames.
 *
 * Takes one lease and gives way to others with each read. Damage is in the answer, not an error. Segments
 * that retention takes away meanwhile are passed.
 * @throws CodedError what the disk answers, other than that a file is not there; `MemoryExhausted`
 */
export async function verifyStep(source: VerifySource, request: VerifyRequest): Promise<VerifyStep> {
  const { from, lengthMax } = request;
  const tally = new Tally(lengthMax);
  let place = { ...from };
  let segment = segmentFrom(source.state, from.segment);
  while (segment !== undefined) {
    if (segment.firstOffset !== place.segment) place = { ...VERIFY_FROM_START, segment: segment.firstOffset };
    if (tally.isFull || !(await checkSegment(source, segment, place, tally))) return tally.step(place);
    segment = segmentFrom(source.state, segment.firstOffset + 1);
  }
  return tally.step(undefined);
}

function segmentFrom({ visible }: PartitionState, firstOffset: number): Segment | undefined {
  return visible.find((segment) => segment.firstOffset >= firstOffset);
}

/** Opens the files of a segment and checks them; true at its end. */
async function checkSegment(
  source: VerifySource,
  segment: Segment,
  place: SegmentPlace,
  tally: Tally,
): Promise<boolean> {
  const { kernel, pool, state } = source;
  const ops = await openFile(source, segment, "ops");
  const log = await openFile(source, segment, "log");
  try {
    const isGone = !state.segments.includes(segment);
    if (isGone) return true;
    const expected = await lengthsOf(state, segment, { log, ops });
    const isStart = place.opsPosition === 0 && place.logPosition === 0;
    if (isStart) noteMissing(tally, { log, ops }, expected);
    const { partitionId } = state.identity;
    const files = { log: log.file, ops: ops.file, logPath: log.path, opsPath: ops.path };
    return await new SegmentCheck({ kernel, pool, partitionId, ...files, ...expected }, place, tally).run();
  } finally {
    ops.done();
    log.done();
  }
}

interface OpenedFile {
  readonly path: string;
  /** Nothing when it is not there. */
  readonly file: DiskFile | undefined;
  readonly done: () => void;
}

async function openFile(source: VerifySource, segment: Segment, kind: SegmentFileKind): Promise<OpenedFile> {
  const path = source.state.filePath(segment, kind);
  try {
    const { file, done } = await source.handles.use(path);
    return { path, file, done };
  } catch (error) {
    if (!isAbsent(error)) throw error;
    return { path, file: undefined, done: () => {} };
  }
}

/**
 * Bytes to check: what is journaled. A damaged partition takes no writes, so of its last segment all there is
 * on disk is looked at: recovery may have stopped counting at the damage.
 */
async function lengthsOf(state: PartitionState, segment: Segment, { log, ops }: SegmentFilesOpened) {
  const { logLength, opsLength } = segment;
  if (segment !== state.active) return { logLength, opsLength: opsLength + (await noteLength(segment, ops)) };
  if (!isCodedError(state.fault, ErrorCode.PartitionDamaged)) return { logLength, opsLength };
  const [logThere = 0, opsThere = 0] = await Promise.all([log.file?.length(), ops.file?.length()]);
  return { logLength: Math.max(logLength, logThere), opsLength: Math.max(opsLength, opsThere) };
}

/** Length of the note behind the records of a sealed segment that the next one was begun; 0 when none is. */
async function noteLength({ opsLength }: Segment, { file }: OpenedFile): Promise<number> {
  const there = (await file?.length()) ?? 0;
  if (file === undefined || there !== opsLength + SUCCESSOR_MARK_LENGTH) return 0;
  const bytes = new Uint8Array(SUCCESSOR_MARK_LENGTH);
  await readAt(file, bytes, opsLength);
  return wasSuccessorMark(bytes) ? SUCCESSOR_MARK_LENGTH : 0;
}

interface SegmentFilesOpened {
  readonly log: OpenedFile;
  readonly ops: OpenedFile;
}

function noteMissing(
  tally: Tally,
  { log, ops }: SegmentFilesOpened,
  expected: { readonly logLength: number },
): void {
  const isLogDue = expected.logLength > 0;
  if (ops.file === undefined)
    tally.damage({ kind: "missing", path: ops.path, position: 0, offset: undefined });
  if (isLogDue && log.file === undefined)
    tally.damage({ kind: "missing", path: log.path, position: 0, offset: undefined });
}
