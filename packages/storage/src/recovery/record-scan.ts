import type { ChecksumKernel } from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import {
  claimedRecordLength,
  type OpRecord,
  RECORD_ALIGNMENT,
  RECORD_HEADER_LENGTH,
  readRecord,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";
import { readAt } from "../segment/file-calls.ts";

/** Bytes read at once: some 8,000 records. */
const CHUNK_LENGTH = 1_048_576;

/** A record and where it lies in its file. Its body is a view that is good until the visitor returns. */
export interface ScannedRecord {
  readonly record: OpRecord;
  readonly position: number;
}

/** The part of a file to look through. */
export interface ScanRange {
  readonly file: DiskFile;
  readonly kernel: ChecksumKernel;
  readonly from: number;
  readonly end: number;
}

/** Takes the records of one chunk in order; false ends the scan. */
export type RecordVisitor = (records: readonly ScannedRecord[]) => boolean | Promise<boolean>;

/**
 * Hands over every unharmed record of the range, chunk by chunk.
 *
 * Stops at the first place where no unharmed record starts and answers it; with `search` it looks behind that
 * place for the next one instead and answers the end of the range.
 * @throws CodedError `FormatTooNew`, or what the disk answers
 */
export async function scanRecords(
  range: ScanRange,
  visit: RecordVisitor,
  onDamage: "stop" | "search" = "stop",
): Promise<number> {
  let buffer = new Uint8Array(Math.max(1, Math.min(CHUNK_LENGTH, range.end - range.from)));
  let at = range.from;
  while (at < range.end) {
    const want = Math.min(buffer.length, range.end - at);
    const length = await readAt(range.file, buffer.subarray(0, want), at);
    const chunk = readChunk(range.kernel, buffer.subarray(0, length), {
      at,
      isLast: at + length >= range.end || length < want,
      onDamage,
    });
    if (chunk.records.length > 0 && !(await visit(chunk.records))) return at + chunk.consumed;
    at += chunk.consumed;
    if (chunk.isDamaged) return at;
    if (chunk.needed > buffer.length) buffer = new Uint8Array(chunk.needed);
    else if (chunk.consumed === 0) return at;
  }
  return at;
}

interface Chunk {
  readonly records: ScannedRecord[];
  /** Bytes looked at and done with. */
  readonly consumed: number;
  /** Bytes a record that runs past the chunk needs, or 0. */
  readonly needed: number;
  readonly isDamaged: boolean;
}

function readChunk(
  kernel: ChecksumKernel,
  bytes: Uint8Array,
  where: { at: number; isLast: boolean; onDamage: "stop" | "search" },
): Chunk {
  const view = viewOver(bytes);
  const records: ScannedRecord[] = [];
  let consumed = 0;
  while (consumed < bytes.length) {
    const record = readRecord(kernel, bytes, view, consumed);
    if (record !== undefined) {
      records.push({ record, position: where.at + consumed });
      consumed += record.length;
      continue;
    }
    const needed = lengthNeeded(view, consumed);
    if (needed > bytes.length - consumed && !where.isLast) {
      return { records, consumed, needed, isDamaged: false };
    }
    if (where.onDamage === "stop") return { records, consumed, needed: 0, isDamaged: true };
    consumed = Math.min(bytes.length, consumed + RECORD_ALIGNMENT);
  }
  return { records, consumed, needed: 0, isDamaged: false };
}

/** Bytes the record that may start here needs in order to be judged. */
function lengthNeeded(view: DataView, position: number): number {
  if (view.byteLength - position < RECORD_HEADER_LENGTH) return RECORD_HEADER_LENGTH;
  return claimedRecordLength(view, position);
}
