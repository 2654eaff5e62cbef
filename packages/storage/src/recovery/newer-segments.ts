import { SparseIndex } from "../index-file/sparse-index.ts";
import { RecordKind } from "../op-record/record.ts";
import { successorOf } from "../op-record/successor-mark.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { compareSegmentNames, type SegmentName, segmentFileName } from "../segment/segment-name.ts";
import { continueInto } from "./continued-segment.ts";
import { damaged } from "./damage.ts";
import { isFirstRecordChanged } from "./first-record.ts";
import { keptOrFault } from "./kept-or-fault.ts";
import { LogWindow } from "./log-window.ts";
import { type ProvenEnd, provenEndOf } from "./proven-end.ts";
import { setAside } from "./quarantine.ts";
import { scanRecords } from "./record-scan.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { InDoubt } from "./replay-segment.ts";
import type { FoundSegment } from "./scan-directory.ts";
import { listUnproven, type Unproven } from "./unproven-segment.ts";

/**
 * Judges a segment behind the state's end whose `.ops` does not begin with a good record.
 *
 * When its ops continue the state, only that record is lost. Otherwise ops or batches of ours in it mean that
 * more was written than can be told: a fault, also for the stored offsets; its batches that verify are served
 * and what lies behind them answers `PartitionDamaged`. So does a first record that was changed when the name
 * does not continue the state, or the state is that of a segment whose `.log` is missing: what led from there
 * to here is gone. Without any of that it is what a crash
 * left of a roll (kept aside when it holds bytes; its name is used again), or a stray that is ignored.
 *
 * @returns what was read back of it and is not proven to be on the disk
 */
export async function judgeNewer(
  source: RecoverySource,
  segment: FoundSegment,
  around: Surroundings,
): Promise<InDoubt | undefined> {
  const continued = await continueInto(source, segment);
  return continued === undefined ? judgeStranger(source, segment, around) : continued.inDoubt;
}

/** What else was found beside a segment that is judged. */
export interface Surroundings {
  /**
   * False when no segment at all begins with a good record: then only the name of a partition's very first
   * segment can be that of a new one.
   */
  readonly hasState: boolean;
  /** The segment after it: where that one begins by its name, or behind, lies nothing of this one. */
  readonly next: SegmentName | undefined;
}

async function judgeStranger(
  source: RecoverySource,
  segment: FoundSegment,
  { hasState, next }: Surroundings,
): Promise<InDoubt | undefined> {
  const { state, options } = source;
  const { generation, nextOffset } = state.journaled;
  const isExpected = segment.firstOffset === nextOffset && segment.generation === generation;
  const until = next?.generation === segment.generation ? next.firstOffset : Number.POSITIVE_INFINITY;
  const batches = await wholeBatches(source, segment, until);
  const records = await wholeRecords(source, segment);
  const end = endOfEvidence(segment, batches, records.endOffset, isExpected);
  if (end !== undefined) {
    markUnproven(state, segment, { batches, end: Math.min(end, until), successor: records.successor });
    return inDoubtOf(segment, batches, records.proven);
  }
  const isAfter = compareSegmentNames(segment, { generation, firstOffset: nextOffset }) > 0;
  // A segment without its messages may be what is left of one that was removed: older than it seems.
  const isUnproven = isAfter || state.active?.damage !== undefined;
  const isGone = hasState ? isUnproven && (await isFirstRecordChanged(source, segment)) : !isExpected;
  if (isGone) {
    markUnproven(state, segment, { batches, end: segment.firstOffset + 1 });
    return inDoubtOf(segment, batches, records.proven);
  }
  const path = state.filePath(segment, "log");
  if (!isExpected) options.log.warn("A segment that continues nothing is ignored.", { path });
  else if (options.role === "exclusive") await keptOrFault(source, () => keepAside(source, segment));
  return undefined;
}

/** Batches that are served from now on, and what tells of them; nothing on topics that sync nothing. */
function inDoubtOf(
  segment: FoundSegment,
  { logLength }: WholeBatches,
  proven: ProvenEnd | undefined,
): InDoubt | undefined {
  const to = { opsLength: segment.opsLength ?? 0, logLength };
  return proven && { segment, from: proven.end, to };
}

/** Lists the segment, up to its end, with the batches that verify, and takes no more writes. */
function markUnproven(state: PartitionState, name: FoundSegment, shown: Omit<Unproven, "error">): void {
  const { firstOffset } = name;
  const path = state.filePath(name, "ops");
  const text = `The first record of ${path} is damaged or missing.`;
  listUnproven(state, name, { ...shown, error: damaged(text, { path, position: 0, firstOffset }) });
}

/** First offset behind everything of ours the segment shows; nothing when it shows nothing. */
function endOfEvidence(
  segment: FoundSegment,
  batches: WholeBatches,
  records: number | undefined,
  isExpected: boolean,
): number | undefined {
  const logLength = segment.logLength ?? 0;
  const behind = batches.endOffset + (logLength > batches.logLength ? 1 : 0);
  if (records !== undefined) return Math.max(records, behind, segment.firstOffset + 1);
  return batches.logLength > 0 || (isExpected && logLength > 0) ? behind : undefined;
}

/** What the records of a segment tell that can be read, or that have one changed bit, wherever they lie. */
interface WholeRecords {
  /**
   * Behind the last message of an op behind the state, and 0 when all there is is the note of a next segment;
   * nothing when there is neither.
   */
  endOffset: number | undefined;
  /** The segment that the last of them says was begun. */
  successor: SegmentName | undefined;
  readonly proven: ProvenEnd | undefined;
}

async function wholeRecords(source: RecoverySource, segment: FoundSegment): Promise<WholeRecords> {
  const { options, state } = source;
  const proven = provenEndOf(options);
  const whole: WholeRecords = { endOffset: undefined, successor: undefined, proven };
  const end = segment.opsLength ?? 0;
  if (end === 0) return whole;
  const file = await options.disk.openFile(state.filePath(segment, "ops"), "read");
  let logLength = 0;
  try {
    const range = { file, kernel: options.kernel, from: 0, end };
    await scanRecords(
      range,
      (records) => {
        for (const { record, position } of records) {
          const { place } = record;
          if (record.kind === RecordKind.batch) logLength = place.position + place.length;
          whole.proven?.note(record, { opsLength: position + record.length, logLength });
          whole.successor = successorOf(record);
          if (whole.successor !== undefined) whole.endOffset ??= 0;
          if (record.header.op <= state.journaled.op) continue;
          whole.endOffset = Math.max(whole.endOffset ?? 0, place.baseOffset + place.count);
        }
        return true;
      },
      "search-changed",
    );
  } finally {
    await file.close();
  }
  return whole;
}

/** The batches at the beginning of a `.log` that verify and follow each other. */
interface WholeBatches {
  readonly index: SparseIndex;
  /** Behind the last of them: offset and place; the segment's first offset and 0 when there is none. */
  endOffset: number;
  logLength: number;
  lastTimestamp: number;
}

async function wholeBatches(
  source: RecoverySource,
  segment: FoundSegment,
  until: number,
): Promise<WholeBatches> {
  const { options, state } = source;
  const whole = { index: new SparseIndex(), endOffset: segment.firstOffset, logLength: 0, lastTimestamp: 0 };
  const fileLength = segment.logLength ?? 0;
  if (fileLength === 0) return whole;
  const file = await options.disk.openFile(state.filePath(segment, "log"), "read");
  const window = new LogWindow(file, options, state.identity.partitionId);
  try {
    while (whole.logLength < fileLength) {
      const batch = await window.batchAt(whole.logLength, fileLength - whole.logLength);
      if (batch === undefined || batch.baseOffset !== whole.endOffset) break;
      if (batch.baseOffset + batch.count > until) break;
      whole.index.note(batch.baseOffset, batch.timestamp, batch.position);
      whole.endOffset += batch.count;
      whole.logLength += batch.length;
      whole.lastTimestamp = batch.timestamp;
    }
    return whole;
  } finally {
    window.release();
    await file.close();
  }
}

async function keepAside(source: RecoverySource, segment: FoundSegment): Promise<void> {
  const { options, state } = source;
  const end = segment.opsLength ?? 0;
  if (end === 0) return;
  const file = await options.disk.openFile(state.filePath(segment, "ops"), "read");
  try {
    const kept = await setAside(options.disk, { file, from: 0, end });
    const facts = { path: segmentFileName(segment, "ops"), kept };
    options.log.warn("An unfinished segment was kept aside; its name is used again.", facts);
  } finally {
    await file.close();
  }
}
