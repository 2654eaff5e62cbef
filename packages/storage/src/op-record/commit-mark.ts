import type { ChecksumKernel } from "@millrace/framing";
import { NO_OP_HEADER, RECORD_HEADER_LENGTH, RecordKind, sealRecord, writeRecordHeader } from "./record.ts";
import { viewOver } from "./u64-field.ts";

/** The op behind which a mark is written. */
export interface MarkedOp {
  readonly op: number;
  readonly opChecksum: bigint;
}

/**
 * The record that says how far a journal is committed, where no further op says it: files that hold ops go
 * only when what remains proves that those were committed. New bytes, without a body.
 */
export function encodeCommitMark(kernel: ChecksumKernel, last: MarkedOp, commit: number): Uint8Array {
  const bytes = new Uint8Array(RECORD_HEADER_LENGTH);
  const view = viewOver(bytes);
  const header = { ...NO_OP_HEADER, op: last.op, checksum: last.opChecksum };
  writeRecordHeader(view, 0, header, { kind: RecordKind.commitMark, bodyLength: 0, commit });
  sealRecord(kernel, bytes, view, { position: 0, length: bytes.length });
  return bytes;
}
