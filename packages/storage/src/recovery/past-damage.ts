import { type OpRecord, RECORD_HEADER_LENGTH, RecordKind, standsBehindOp } from "../op-record/record.ts";
import { successorOf } from "../op-record/successor-mark.ts";
import type { ActiveSource } from "./active-segment.ts";
import type { LogWindow } from "./log-window.ts";
import { scanRecords } from "./record-scan.ts";
import { replayRecord } from "./replay.ts";
import { harmedRecordAt } from "./tail-search.ts";

/** What was taken behind the damage. */
interface Taken {
  /** Ops between the good ones whose records cannot be read. */
  missing: number;
  batches: number;
  /** A record with one changed bit is one of another op than a batch. */
  hidesOther: boolean;
}

/**
 * Takes every good record behind damage into the state, also those whose batches do not hold: readers hear of
 * those. Answers whether the stored offsets are proven: every op that cannot be read was a batch. (A record
 * of 128 bytes is a batch's: all other ops take more.)
 *
 * @param stop  place in the `.ops` of the first record that was not replayed
 */
export async function takeBehindDamage(
  source: ActiveSource,
  window: LogWindow | undefined,
  stop: number,
): Promise<boolean> {
  const { segment, files, kernel, opsLength } = source;
  const before = { position: segment.logLength, offset: segment.endOffset };
  const taken: Taken = { missing: 0, batches: 0, hidesOther: false };
  const range = { file: files.ops, kernel, from: stop, end: opsLength };
  let goodEnd = stop;
  await scanRecords(
    range,
    (records) => {
      for (const { record, position, isChanged } of records) {
        segment.successor = successorOf(record);
        if (isChanged) {
          taken.hidesOther ||= record.kind === RecordKind.operation;
          continue;
        }
        take(source, record, position, taken);
        source.proven?.note(record, segment);
        if (record.kind !== RecordKind.successor) goodEnd = position + record.length;
      }
      return true;
    },
    "search-changed",
  );
  if (taken.hidesOther) return false;
  if (goodEnd === stop) return opsLength - stop === RECORD_HEADER_LENGTH;
  if (await isEndHarmed(source, goodEnd)) return false;
  return taken.missing === 0 || (await batchesUntil(window, before, segment.logLength)) === allBatches(taken);
}

function take({ state, commits, segment }: ActiveSource, record: OpRecord, at: number, taken: Taken): void {
  const isBatch = record.kind === RecordKind.batch;
  const { op } = state.journaled;
  // A mark names the last op before it.
  if (standsBehindOp(record)) taken.missing += Math.max(0, record.header.op - op);
  if (!isBatch && record.kind !== RecordKind.operation) return;
  if (record.header.op <= op) return;
  taken.missing += record.header.op - op - 1;
  if (isBatch) taken.batches += 1;
  replayRecord(state, commits, segment, record, at);
}

function allBatches({ missing, batches }: Taken): number {
  return missing + batches;
}

/** True when behind the last good record one more was written to its end and is harmed. */
async function isEndHarmed({ files, opsLength, state }: ActiveSource, goodEnd: number): Promise<boolean> {
  return (await harmedRecordAt(files.ops, { from: goodEnd, to: opsLength }, state.journaled)) !== undefined;
}

/** How many whole batches follow each other from a place of the `.log` to another; -1 when they do not. */
async function batchesUntil(
  window: LogWindow | undefined,
  from: { readonly position: number; readonly offset: number },
  end: number,
): Promise<number> {
  let { position, offset } = from;
  let count = 0;
  while (position < end) {
    const batch = await window?.batchAt(position, end - position);
    if (batch === undefined || batch.baseOffset !== offset) return -1;
    position += batch.length;
    offset += batch.count;
    count += 1;
  }
  return count;
}
