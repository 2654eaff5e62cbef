import type { ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import { recordBeforeChange } from "../op-record/changed-bit.ts";
import {
  claimedRecordLength,
  mayHaveMagic,
  type OpRecord,
  RECORD_ALIGNMENT,
  RECORD_HEADER_LENGTH,
  readRecord,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { readAt } from "../segment/file-calls.ts";
import { OP_RECORD_LENGTH_MAX } from "./harmed-record.ts";

/** Bytes read at once: some 8,000 records. */
const CHUNK_LENGTH = 1_048_576;
/** Records decoded before they are handed over: few, so that they are garbage before they are old. */
const RECORDS_AT_ONCE = 256;
/**
 * Harmed records of one scan that are tried bit by bit: about 1 ms of each, in which nothing else of the
 * process goes on. More are not the work of single bits: behind them only unharmed ones count.
 */
export const TRIED_RECORDS_MAX = 64;

/** A record and where it lies in its file. Its body is a view that is good until the visitor returns. */
export interface ScannedRecord {
  readonly record: OpRecord;
  readonly position: number;
  /** It does not verify: this is what it said before one bit of it was changed. */
  readonly isChanged: boolean;
}

/**
 * What a scan does where no unharmed record starts: it ends; or it looks behind that place for the next one;
 * or it does that and also hands over records of ops in which one bit was changed, of the first
 * `TRIED_RECORDS_MAX` that may be such.
 */
export type OnDamage = "stop" | "search" | "search-changed";

/** The part of a file to look through. */
export interface ScanRange {
  readonly file: DiskFile;
  readonly kernel: ChecksumKernel;
  readonly from: number;
  readonly end: number;
  /** Bytes read at once, at least; default 1 MiB. */
  readonly chunkLength?: number | undefined;
}

/** Takes some records in order; false ends the scan. */
export type RecordVisitor = (records: readonly ScannedRecord[]) => boolean | Promise<boolean>;

/**
 * Hands over every unharmed record of the range, some at a time.
 *
 * Stops at the first place where no unharmed record starts and answers it; with `search` it looks behind that
 * place for the next one instead and answers the end of the range.
 * @throws CodedError `FormatTooNew`, or what the disk answers
 */
export async function scanRecords(
  range: ScanRange,
  visit: RecordVisitor,
  onDamage: OnDamage = "stop",
): Promise<number> {
  const { chunkLength = CHUNK_LENGTH } = range;
  let buffer = new Uint8Array(Math.max(1, Math.min(chunkLength, range.end - range.from)));
  let at = range.from;
  const tries = { left: onDamage === "search-changed" ? TRIED_RECORDS_MAX : 0 };
  while (at < range.end) {
    const want = Math.min(buffer.length, range.end - at);
    const length = await readAt(range.file, buffer.subarray(0, want), at);
    const isLast = at + length >= range.end || length < want;
    const where = { kernel: range.kernel, at, isLast, onDamage, tries };
    const read = await visitChunk(buffer.subarray(0, length), where, visit);
    at += read.consumed;
    if (read.isOver) return at;
    if (read.needed > buffer.length) buffer = new Uint8Array(read.needed);
    else if (read.consumed === 0) return at;
  }
  return at;
}

/** Where a chunk lies and how it is read. */
interface ChunkPlace {
  readonly kernel: ChecksumKernel;
  readonly at: number;
  readonly isLast: boolean;
  readonly onDamage: OnDamage;
  /** How many harmed records the whole scan may still try. */
  readonly tries: { left: number };
}

async function visitChunk(
  bytes: Uint8Array,
  where: ChunkPlace,
  visit: RecordVisitor,
): Promise<{ readonly consumed: number; readonly needed: number; readonly isOver: boolean }> {
  const view = viewOver(bytes);
  let consumed = 0;
  while (consumed < bytes.length) {
    const some = readSome(bytes, view, consumed, where);
    consumed = some.end;
    const goesOn = some.records.length === 0 || (await visit(some.records));
    if (!goesOn || some.isDamaged) return { consumed, needed: 0, isOver: true };
    if (some.needed > 0) return { consumed, needed: some.needed, isOver: false };
  }
  return { consumed, needed: 0, isOver: false };
}

interface SomeRecords {
  readonly records: ScannedRecord[];
  /** Behind the bytes that were looked at and are done with. */
  readonly end: number;
  /** Bytes a record that runs past the chunk needs, or 0. */
  readonly needed: number;
  readonly isDamaged: boolean;
}

function readSome(bytes: Uint8Array, view: DataView, from: number, where: ChunkPlace): SomeRecords {
  const records: ScannedRecord[] = [];
  let end = from;
  while (end < bytes.length && records.length < RECORDS_AT_ONCE) {
    const record = readRecord(where.kernel, bytes, view, end);
    if (record !== undefined) {
      records.push({ record, position: where.at + end, isChanged: false });
      end += record.length;
      continue;
    }
    const needed = lengthNeeded(view, end);
    if (needed > bytes.length - end && !where.isLast) return { records, end, needed, isDamaged: false };
    if (where.onDamage === "stop") return { records, end, needed: 0, isDamaged: true };
    const changed = mayHaveMagic(view, end) ? changedRecord(bytes, end, where) : undefined;
    if (changed !== undefined) records.push({ record: changed, position: where.at + end, isChanged: true });
    end = Math.min(bytes.length, end + (changed?.length ?? RECORD_ALIGNMENT));
  }
  return { records, end, needed: 0, isDamaged: false };
}

function changedRecord(bytes: Uint8Array, start: number, where: ChunkPlace): OpRecord | undefined {
  if (where.tries.left === 0) return undefined;
  where.tries.left -= 1;
  const place = { bytes, filePosition: where.at, start, lengthMax: OP_RECORD_LENGTH_MAX };
  return recordBeforeChange(where.kernel, place);
}

/** Bytes the record that may start here needs in order to be judged. */
function lengthNeeded(view: DataView, position: number): number {
  if (view.byteLength - position < RECORD_HEADER_LENGTH) return RECORD_HEADER_LENGTH;
  return claimedRecordLength(view, position);
}
