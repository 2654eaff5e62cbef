import { CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { OpHeader } from "./op-header.ts";
import { setBigU64, setU64, setU128, u64At, u128At } from "./u64-field.ts";

/** Length of the fixed part of every record; a body follows it. */
export const RECORD_HEADER_LENGTH = 128;
/** Records start at multiples of this, so that a search past damage looks at few places. */
export const RECORD_ALIGNMENT = 8;
/**
 * Largest body: the state of a partition with 100,000 segments and every offset key taken fits four times.
 */
export const RECORD_BODY_LENGTH_MAX = 16_777_216;
/** Version of the record layout; a newer one is refused. */
const RECORD_VERSION = 1;
/** "MROP" in the order of the bytes. */
const RECORD_MAGIC = 0x504f_524d;

/** What a record is; the numbers are bytes on disk. */
export const RecordKind = {
  checkpoint: 1,
  batch: 2,
  operation: 3,
  metadata: 4,
  commitMark: 5,
  successor: 6,
} as const;

/** True for a record that is no op itself and stands behind the op that it names, if it names one. */
export function standsBehindOp({ kind }: { readonly kind: number }): boolean {
  return kind === RecordKind.checkpoint || kind === RecordKind.commitMark || kind === RecordKind.successor;
}

/** Byte positions in the record header, see docs/spec/partition-files.md. */
const AT = {
  checksum: 0,
  magic: 8,
  version: 12,
  kind: 13,
  operation: 14,
  flags: 15,
  parent: 16,
  opChecksum: 24,
  op: 32,
  timestamp: 40,
  client: 48,
  request: 64,
  view: 72,
  user: 76,
  position: 80,
  session: 80,
  baseOffset: 88,
  batchChecksum: 96,
  batchLength: 104,
  messageCount: 108,
  bodyLength: 112,
  groupPlace: 116,
  commit: 120,
} as const;

/** The op a checkpoint stands at needs no parent, client or request. */
export const NO_OP_HEADER: OpHeader = {
  op: 0,
  view: 0,
  parent: 0n,
  checksum: 0n,
  operation: 0,
  client: 0n,
  request: 0n,
  user: 0,
  timestamp: 0,
};

/** Where a batch lies in the `.log` and what it holds. */
export interface BatchPlace {
  readonly position: number;
  readonly length: number;
  readonly baseOffset: number;
  readonly count: number;
  readonly checksum: bigint;
}

/** A record read back; `body` is a view into the bytes it was read from. */
export interface OpRecord {
  readonly kind: number;
  readonly flags: number;
  readonly header: OpHeader;
  readonly place: BatchPlace;
  readonly session: bigint;
  /**
   * How many ops of the same write group lie before this one. A group begins when the one before is written
   * completely, so a good record proves that of every op before `op - groupPlace`.
   */
  readonly groupPlace: number;
  /** Highest op known to be committed when the record was written. */
  readonly commit: number;
  readonly body: Uint8Array;
  /** Header, body and padding. */
  readonly length: number;
}

/** Bytes a record with a body of `bodyLength` takes, padding included. */
export function recordLength(bodyLength: number): number {
  const unpadded = RECORD_HEADER_LENGTH + bodyLength;
  return Math.ceil(unpadded / RECORD_ALIGNMENT) * RECORD_ALIGNMENT;
}

/** What `writeRecordHeader` needs besides the op's own header. */
export interface RecordParts {
  readonly kind: number;
  readonly flags?: number;
  readonly bodyLength: number;
  readonly commit: number;
  /** Ops of the same write group before this one; default 0. */
  readonly groupPlace?: number;
}

/**
 * Writes the fixed part of a record at `position` without its checksum; every byte of it, reserved ones as
 * zero. The caller writes place and body, then calls `sealRecord`.
 * @param words  the bytes of `view` as u64, see `KernelMemory`; `position` is a multiple of 8 then
 */
export function writeRecordHeader(
  view: DataView,
  position: number,
  header: OpHeader,
  parts: RecordParts,
  words?: BigUint64Array,
): void {
  for (let at = 0; at < RECORD_HEADER_LENGTH; at += 8) view.setFloat64(position + at, 0);
  view.setUint32(position + AT.magic, RECORD_MAGIC, true);
  view.setUint8(position + AT.version, RECORD_VERSION);
  view.setUint8(position + AT.kind, parts.kind);
  view.setUint8(position + AT.operation, header.operation);
  view.setUint8(position + AT.flags, parts.flags ?? 0);
  setBigU64(view, position + AT.parent, header.parent, words);
  setBigU64(view, position + AT.opChecksum, header.checksum, words);
  setU64(view, position + AT.op, header.op);
  setU64(view, position + AT.timestamp, header.timestamp);
  setU128(view, position + AT.client, header.client, words);
  setBigU64(view, position + AT.request, header.request, words);
  view.setUint32(position + AT.view, header.view, true);
  view.setUint32(position + AT.user, header.user, true);
  view.setUint32(position + AT.bodyLength, parts.bodyLength, true);
  view.setUint32(position + AT.groupPlace, parts.groupPlace ?? 0, true);
  setU64(view, position + AT.commit, parts.commit);
}

/** Writes what the record's batch holds and that it lies at `logPosition`; `words` as for the header. */
export function writeBatchPlace(
  view: DataView,
  position: number,
  place: Omit<BatchPlace, "position">,
  logPosition: number,
  words?: BigUint64Array,
): void {
  setU64(view, position + AT.position, logPosition);
  setU64(view, position + AT.baseOffset, place.baseOffset);
  setBigU64(view, position + AT.batchChecksum, place.checksum, words);
  view.setUint32(position + AT.batchLength, place.length, true);
  view.setUint32(position + AT.messageCount, place.count, true);
}

/** Writes how many ops of the same write group lie before this one. */
export function writeGroupPlace(view: DataView, position: number, groupPlace: number): void {
  view.setUint32(position + AT.groupPlace, groupPlace, true);
}

/** Writes the session a metadata op came from, and what its client says the checksum of its body is. */
export function writeSession(
  view: DataView,
  position: number,
  op: { readonly session: bigint; readonly bodyChecksum: bigint },
): void {
  view.setBigUint64(position + AT.session, op.session, true);
  view.setBigUint64(position + AT.batchChecksum, op.bodyChecksum, true);
}

/**
 * Computes the checksum over everything behind it and writes it. `bytes` and `view` cover the same memory.
 */
export function sealRecord(
  kernel: ChecksumKernel,
  bytes: Uint8Array,
  view: DataView,
  place: { position: number; length: number },
): void {
  const { position, length } = place;
  const covered = bytes.subarray(position + AT.magic, position + length);
  view.setBigUint64(position + AT.checksum, kernel.hashBytes(covered), true);
}

/** The same for a record in the kernel's memory. */
export function sealRecordInPlace(kernel: ChecksumKernel, position: number, length: number): void {
  kernel.hashInto(position + AT.checksum, position + AT.magic, length - AT.magic);
}

/** True when the bytes at `position` look like the start of a record; says nothing about its checksum. */
function hasRecordMagic(view: DataView, position: number): boolean {
  return (
    position + RECORD_HEADER_LENGTH <= view.byteLength &&
    view.getUint32(position + AT.magic, true) === RECORD_MAGIC
  );
}

/** True when a record's mark is at `position`, or is there once one bit of it is changed. */
export function mayHaveMagic(view: DataView, position: number): boolean {
  if (position + RECORD_HEADER_LENGTH > view.byteLength) return false;
  const wrong = view.getUint32(position + AT.magic, true) ^ RECORD_MAGIC;
  return (wrong & (wrong - 1)) === 0;
}

/**
 * Length the record at `position` claims, padding included, or 0 when no record can start there: too few
 * bytes for a header, another magic, or a body over the limit. The record may still run past the end of
 * `view`.
 */
export function claimedRecordLength(view: DataView, position: number): number {
  if (!hasRecordMagic(view, position)) return 0;
  const bodyLength = view.getUint32(position + AT.bodyLength, true);
  return bodyLength > RECORD_BODY_LENGTH_MAX ? 0 : recordLength(bodyLength);
}

/** What the header of a record says, whether or not the record verifies. */
export interface RecordClaim {
  readonly hasMagic: boolean;
  readonly kind: number;
  readonly operation: number;
  readonly op: number;
  readonly parent: bigint;
  readonly groupPlace: number;
}

/** Reads the header at `position`, which is inside `view` as a whole, without checking anything. */
export function readRecordClaim(view: DataView, position: number): RecordClaim {
  return {
    hasMagic: hasRecordMagic(view, position),
    kind: view.getUint8(position + AT.kind),
    operation: view.getUint8(position + AT.operation),
    op: u64At(view, position + AT.op),
    parent: view.getBigUint64(position + AT.parent, true),
    groupPlace: view.getUint32(position + AT.groupPlace, true),
  };
}

/**
 * The record at `position`, or nothing when the bytes there are not a whole, unharmed record.
 * @throws CodedError `FormatTooNew` for an unharmed record of a later version
 */
export function readRecord(
  kernel: ChecksumKernel,
  bytes: Uint8Array,
  view: DataView,
  position: number,
): OpRecord | undefined {
  const length = claimedRecordLength(view, position);
  if (length === 0 || position + length > view.byteLength) return undefined;
  const covered = bytes.subarray(position + AT.magic, position + length);
  if (kernel.hashBytes(covered) !== view.getBigUint64(position + AT.checksum, true)) return undefined;
  const version = view.getUint8(position + AT.version);
  if (version > RECORD_VERSION) {
    throw new CodedError(ErrorCode.FormatTooNew, "The files were written by a later version of Millrace.", {
      details: { version, versionMax: RECORD_VERSION },
    });
  }
  return decodeRecord(bytes, view, position, length);
}

function decodeRecord(bytes: Uint8Array, view: DataView, position: number, length: number): OpRecord {
  const bodyAt = position + RECORD_HEADER_LENGTH;
  const kind = view.getUint8(position + AT.kind);
  return {
    kind,
    flags: view.getUint8(position + AT.flags),
    header: decodeOpHeader(view, position),
    place: {
      position: u64At(view, position + AT.position),
      length: view.getUint32(position + AT.batchLength, true),
      baseOffset: u64At(view, position + AT.baseOffset),
      count: view.getUint32(position + AT.messageCount, true),
      checksum: view.getBigUint64(position + AT.batchChecksum, true),
    },
    session: kind === RecordKind.metadata ? view.getBigUint64(position + AT.session, true) : 0n,
    groupPlace: view.getUint32(position + AT.groupPlace, true),
    commit: u64At(view, position + AT.commit),
    body: bytes.subarray(bodyAt, bodyAt + view.getUint32(position + AT.bodyLength, true)),
    length,
  };
}

function decodeOpHeader(view: DataView, position: number): OpHeader {
  return {
    op: u64At(view, position + AT.op),
    view: view.getUint32(position + AT.view, true),
    parent: view.getBigUint64(position + AT.parent, true),
    checksum: view.getBigUint64(position + AT.opChecksum, true),
    operation: view.getUint8(position + AT.operation),
    client: u128At(view, position + AT.client),
    request: view.getBigUint64(position + AT.request, true),
    user: view.getUint32(position + AT.user, true),
    timestamp: u64At(view, position + AT.timestamp),
  };
}
