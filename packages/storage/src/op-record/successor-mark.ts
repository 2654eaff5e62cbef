import type { ChecksumKernel } from "@millrace/framing";
import type { SegmentName } from "../segment/segment-name.ts";
import {
  NO_OP_HEADER,
  type OpRecord,
  RECORD_HEADER_LENGTH,
  RecordKind,
  readRecordClaim,
  sealRecord,
  writeBatchPlace,
  writeRecordHeader,
} from "./record.ts";
import { viewOver } from "./u64-field.ts";

/**
 * The record that ends the `.ops` of a sealed segment: the next one was begun, with a whole first record.
 * Where that one is gone with all its files, nothing else tells that it was there. New bytes, without a body;
 * it names no op.
 */
export function encodeSuccessorMark(kernel: ChecksumKernel, next: SegmentName): Uint8Array {
  const bytes = new Uint8Array(RECORD_HEADER_LENGTH);
  const view = viewOver(bytes);
  writeRecordHeader(view, 0, NO_OP_HEADER, { kind: RecordKind.successor, bodyLength: 0, commit: 0 });
  const place = { baseOffset: next.firstOffset, length: 0, count: 0, checksum: 0n };
  writeBatchPlace(view, 0, place, next.generation);
  sealRecord(kernel, bytes, view, { position: 0, length: bytes.length });
  return bytes;
}

/** Length of every such record. */
export const SUCCESSOR_MARK_LENGTH = RECORD_HEADER_LENGTH;

/** True when the bytes were such a record before at most one of their bits changed. */
export function wasSuccessorMark(bytes: Uint8Array): boolean {
  if (bytes.length < SUCCESSOR_MARK_LENGTH) return false;
  const { kind, hasMagic, op } = readRecordClaim(viewOver(bytes), 0);
  return kind === RecordKind.successor || (hasMagic && op === 0 && kind !== RecordKind.checkpoint);
}

/** The segment that a record says was begun; nothing when it is a record of another kind. */
export function successorOf({ kind, place }: OpRecord): SegmentName | undefined {
  if (kind !== RecordKind.successor) return undefined;
  return { generation: place.position, firstOffset: place.baseOffset };
}
