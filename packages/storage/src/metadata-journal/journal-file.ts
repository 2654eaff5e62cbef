import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import type { OpHeader } from "../op-record/op-header.ts";
import {
  NO_OP_HEADER,
  RECORD_HEADER_LENGTH,
  RecordKind,
  recordLength,
  sealRecord,
  writeGroupPlace,
  writeRecordHeader,
  writeSession,
} from "../op-record/record.ts";
import { viewOver } from "../op-record/u64-field.ts";

const OP_DIGITS = 20;
const NAME_PATTERN = /^journal-(\d{20})\.wal$/;

/** File name of the journal whose first op follows `startOp`. */
export function journalFileName(startOp: number): string {
  return `journal-${String(startOp).padStart(OP_DIGITS, "0")}.wal`;
}

/** The op before the first one of the journal with that name, or nothing when it is not a journal's name. */
export function parseJournalFileName(fileName: string): number | undefined {
  const match = NAME_PATTERN.exec(fileName);
  const startOp = match === null ? Number.NaN : Number(match[1]);
  return Number.isSafeInteger(startOp) ? startOp : undefined;
}

/** The op a journal file starts behind. */
export interface JournalStart {
  readonly op: number;
  readonly checksum: bigint;
  readonly view: number;
}

/**
 * Makes a journal file with its first record, whole or not at all: an empty or headless journal is damage,
 * never a crash.
 */
export async function createJournalFile(
  target: { readonly disk: Disk; readonly path: string; readonly kernel: ChecksumKernel },
  start: JournalStart,
): Promise<void> {
  const bytes = new Uint8Array(RECORD_HEADER_LENGTH);
  const view = viewOver(bytes);
  const header: OpHeader = { ...NO_OP_HEADER, op: start.op, checksum: start.checksum, view: start.view };
  writeRecordHeader(view, 0, header, { kind: RecordKind.checkpoint, bodyLength: 0, commit: 0 });
  sealRecord(target.kernel, bytes, view, { position: 0, length: RECORD_HEADER_LENGTH });
  await target.disk.writeWhole(`${target.path}/${journalFileName(start.op)}`, bytes);
}

/** What the journal keeps of an op besides its body. */
export interface JournalHeader extends OpHeader {
  readonly session: bigint;
  /** Highest op known to be committed when this one was journaled. */
  readonly commit: number;
  /** Checksum its client gave for its body, u64; 0n for none. */
  readonly bodyChecksum: bigint;
}

/** The bytes of one op in the journal. */
export function encodeJournalRecord(
  kernel: ChecksumKernel,
  header: JournalHeader,
  body: Uint8Array,
): Uint8Array {
  const length = recordLength(body.length);
  const bytes = new Uint8Array(length);
  const view = viewOver(bytes);
  writeRecordHeader(view, 0, header, {
    kind: RecordKind.metadata,
    bodyLength: body.length,
    commit: header.commit,
  });
  writeSession(view, 0, header);
  bytes.set(body, RECORD_HEADER_LENGTH);
  sealRecord(kernel, bytes, view, { position: 0, length });
  return bytes;
}

/** Notes in an op's bytes how many ops of the same write lie before it. */
export function setGroupPlace(kernel: ChecksumKernel, bytes: Uint8Array, groupPlace: number): void {
  const view = viewOver(bytes);
  writeGroupPlace(view, 0, groupPlace);
  sealRecord(kernel, bytes, view, { position: 0, length: bytes.length });
}
