import type { PartitionState } from "../partition/partition-state.ts";
import { Segment } from "../segment/segment.ts";
import { segmentFileName } from "../segment/segment-name.ts";
import { noteJournaledEnd } from "./adopt-checkpoint.ts";
import { damaged } from "./damage.ts";
import { LogWindow } from "./log-window.ts";
import { setAside } from "./quarantine.ts";
import { scanRecords } from "./record-scan.ts";
import type { RecoverySource } from "./recovery-source.ts";
import type { FoundSegment } from "./scan-directory.ts";

/**
 * Judges a segment behind the state's end whose `.ops` does not begin with a good record.
 *
 * Ops or batches of ours in it mean that more was written than can be read: a fault, and its offsets answer
 * `PartitionDamaged`. Otherwise it is what a crash left of a roll (kept aside when it holds bytes; its name
 * is used again), or a stray that is ignored.
 */
export async function judgeNewer(source: RecoverySource, segment: FoundSegment): Promise<void> {
  const { state, options } = source;
  const isExpected =
    segment.firstOffset === state.journaled.nextOffset && segment.generation === state.journaled.generation;
  const end = await endOfEvidence(source, segment, isExpected);
  if (end !== undefined) return markUnreadable(state, segment, end);
  const path = state.filePath(segment, "log");
  if (!isExpected) return options.log.warn("A segment that continues nothing is ignored.", { path });
  if (options.role === "exclusive") await keepAside(source, segment);
}

/** Lists the segment as one nobody can read, up to `end`, and takes no more writes. */
function markUnreadable(state: PartitionState, name: FoundSegment, end: number): void {
  const { generation, firstOffset } = name;
  const path = state.filePath(name, "ops");
  const error = damaged(`The first record of ${path} is damaged or missing.`, {
    path,
    position: 0,
    firstOffset,
  });
  const row = {
    firstOffset,
    endOffset: end,
    logLength: 0,
    opsLength: 0,
    lastTimestamp: state.journaled.timestamp,
  };
  const segment = new Segment(generation, row);
  segment.damage = error;
  state.segments.push(segment);
  state.visibleGeneration = Math.max(state.visibleGeneration, generation);
  state.journaled.nextOffset = Math.max(state.journaled.nextOffset, end);
  state.fault ??= error;
  noteJournaledEnd(state, state.journaled.nextOffset);
}

/** First offset behind everything of ours the segment shows; nothing when it shows nothing. */
async function endOfEvidence(
  source: RecoverySource,
  segment: FoundSegment,
  isExpected: boolean,
): Promise<number | undefined> {
  const records = await endOfRecords(source, segment);
  const batches = await endOfBatches(source, segment);
  if (records === undefined && batches === undefined) {
    return isExpected && (segment.logLength ?? 0) > 0 ? segment.firstOffset + 1 : undefined;
  }
  return Math.max(records ?? 0, batches ?? 0, segment.firstOffset + 1);
}

async function endOfRecords(source: RecoverySource, segment: FoundSegment): Promise<number | undefined> {
  const { options, state } = source;
  const end = segment.opsLength ?? 0;
  if (end === 0) return undefined;
  const file = await options.disk.openFile(state.filePath(segment, "ops"), "read");
  let behind: number | undefined;
  try {
    const range = { file, kernel: options.kernel, from: 0, end };
    await scanRecords(
      range,
      (records) => {
        for (const { record } of records) {
          if (record.header.op <= state.journaled.op) continue;
          behind = Math.max(behind ?? 0, record.place.baseOffset + record.place.count);
        }
        return true;
      },
      "search",
    );
  } finally {
    await file.close();
  }
  return behind;
}

async function endOfBatches(source: RecoverySource, segment: FoundSegment): Promise<number | undefined> {
  const { options, state } = source;
  const logLength = segment.logLength ?? 0;
  if (logLength === 0) return undefined;
  const file = await options.disk.openFile(state.filePath(segment, "log"), "read");
  const window = new LogWindow(file, options, state.identity.partitionId);
  try {
    let next = segment.firstOffset;
    for (let position = 0; position < logLength; ) {
      const batch = await window.batchAt(position, logLength - position);
      if (batch === undefined || batch.baseOffset !== next) break;
      next += batch.count;
      position += batch.length;
    }
    return next > segment.firstOffset ? next : undefined;
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
