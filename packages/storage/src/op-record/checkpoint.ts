import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter, type ChecksumKernel, isWireError } from "@millrace/framing";
import {
  type ClientsRequest,
  REQUEST_ROW_LENGTH,
  readRequest,
  writeRequest,
} from "../requests/remembered-request.ts";
import type { OpHeader } from "./op-header.ts";
import {
  NO_OP_HEADER,
  type OpRecord,
  RECORD_HEADER_LENGTH,
  RecordKind,
  recordLength,
  sealRecord,
  writeRecordHeader,
} from "./record.ts";
import type { ConsumerKindByte } from "./small-operation.ts";
import { viewOver } from "./u64-field.ts";

/** Flag of a checkpoint that ends its file: the partition was closed and nothing followed. */
const CLOSING_FLAG = 1;
/** Flag of an op whose request number is its client's own: a repetition of it is known by that. */
export const NUMBERED_FLAG = 2;
/**
 * "MREN": the last eight bytes of a checkpoint are this and the record's length, so it is found from the end.
 */
const TRAILER_MAGIC = 0x4e45_524d;
/** Length of that trailer. */
export const TRAILER_LENGTH = 8;

/** Which partition a file belongs to. `revision` is the op that created it: an id may be used again. */
export interface PartitionIdentity {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly revision: number;
}

/**
 * One segment of the table a checkpoint carries; offsets are messages, lengths bytes, `lastTimestamp` micros.
 */
export interface SegmentRow {
  readonly firstOffset: number;
  /** First offset behind the segment. */
  readonly endOffset: number;
  readonly logLength: number;
  readonly opsLength: number;
  readonly lastTimestamp: number;
}

/** Everything a partition's state is, as of one op: what the first record of every `.ops` holds. */
export interface Checkpoint {
  readonly op: number;
  readonly opChecksum: bigint;
  readonly view: number;
  readonly timestamp: number;
  readonly commit: number;
  readonly closing: boolean;
  readonly identity: PartitionIdentity;
  readonly generation: number;
  readonly nextOffset: number;
  readonly committedNextOffset: number;
  /** Sealed segments, oldest first. */
  readonly sealed: readonly SegmentRow[];
  /** The segment whose `.ops` holds this checkpoint. */
  readonly active: SegmentRow;
  readonly offsets: readonly {
    readonly consumerKind: ConsumerKindByte;
    readonly id: number;
    readonly offset: number;
  }[];
  /** Remembered requests in the order in which they are to be noted. */
  readonly requests: readonly ClientsRequest[];
}

/** The whole record of a checkpoint, sealed. */
export function encodeCheckpoint(kernel: ChecksumKernel, checkpoint: Checkpoint): Uint8Array {
  const body = encodeBody(checkpoint);
  const length = recordLength(body.length + TRAILER_LENGTH);
  const bytes = new Uint8Array(length);
  const view = viewOver(bytes);
  const header: OpHeader = {
    ...NO_OP_HEADER,
    op: checkpoint.op,
    checksum: checkpoint.opChecksum,
    view: checkpoint.view,
    timestamp: checkpoint.timestamp,
  };
  writeRecordHeader(view, 0, header, {
    kind: RecordKind.checkpoint,
    flags: checkpoint.closing ? CLOSING_FLAG : 0,
    bodyLength: length - RECORD_HEADER_LENGTH,
    commit: checkpoint.commit,
  });
  bytes.set(body, RECORD_HEADER_LENGTH);
  view.setUint32(length - TRAILER_LENGTH, TRAILER_MAGIC, true);
  view.setUint32(length - TRAILER_LENGTH + 4, length, true);
  sealRecord(kernel, bytes, view, { position: 0, length });
  return bytes;
}

function encodeBody(checkpoint: Checkpoint): Uint8Array {
  const { identity, sealed, offsets, requests } = checkpoint;
  const rowsLength = 40 * (sealed.length + 1) + 16 * offsets.length + REQUEST_ROW_LENGTH * requests.length;
  const writer = new ByteWriter(RECORD_HEADER_LENGTH + rowsLength);
  writer.u32(identity.streamId).u32(identity.topicId).u32(identity.partitionId).u32(requests.length);
  writer.u64(identity.revision).u64(checkpoint.generation);
  writer.u64(checkpoint.nextOffset).u64(checkpoint.committedNextOffset);
  writer.u32(sealed.length).u32(offsets.length);
  writeRow(writer, checkpoint.active);
  for (const row of sealed) writeRow(writer, row);
  for (const { consumerKind, id, offset } of offsets) writer.u32(consumerKind).u32(id).u64(offset);
  for (const request of requests) writeRequest(writer, request);
  return writer.finish();
}

function writeRow(writer: ByteWriter, row: SegmentRow): void {
  writer.u64(row.firstOffset).u64(row.endOffset).u64(row.logLength).u64(row.opsLength).u64(row.lastTimestamp);
}

/**
 * The checkpoint an unharmed record holds, or nothing when the record is of another kind.
 * @throws CodedError `PartitionDamaged` when its body does not decode although its checksum is right
 */
export function decodeCheckpoint(record: OpRecord): Checkpoint | undefined {
  if (record.kind !== RecordKind.checkpoint) return undefined;
  try {
    return readBody(record);
  } catch (error) {
    if (!isWireError(error)) throw error;
    throw new CodedError(ErrorCode.PartitionDamaged, "A checkpoint record does not decode.", {
      details: { op: record.header.op, position: error.position },
      cause: error,
    });
  }
}

function readBody(record: OpRecord): Checkpoint {
  const reader = new ByteReader(record.body);
  const [streamId, topicId, partitionId] = [reader.u32(), reader.u32(), reader.u32()];
  const requestCount = reader.u32();
  const identity = { streamId, topicId, partitionId, revision: reader.u64Number() };
  const [generation, nextOffset, committedNextOffset] = [
    reader.u64Number(),
    reader.u64Number(),
    reader.u64Number(),
  ];
  const [sealedCount, offsetCount] = [reader.u32(), reader.u32()];
  const active = readRow(reader);
  const sealed = readMany(reader, sealedCount, readRow);
  const offsets = readMany(reader, offsetCount, readOffset);
  const requests = readMany(reader, requestCount, readRequest);
  return {
    op: record.header.op,
    opChecksum: record.header.checksum,
    view: record.header.view,
    timestamp: record.header.timestamp,
    commit: record.commit,
    closing: (record.flags & CLOSING_FLAG) !== 0,
    identity,
    generation,
    nextOffset,
    committedNextOffset,
    sealed,
    active,
    offsets,
    requests,
  };
}

function readMany<Row>(reader: ByteReader, count: number, read: (reader: ByteReader) => Row): Row[] {
  const rows: Row[] = [];
  for (let index = 0; index < count; index += 1) rows.push(read(reader));
  return rows;
}

function readRow(reader: ByteReader): SegmentRow {
  return {
    firstOffset: reader.u64Number(),
    endOffset: reader.u64Number(),
    logLength: reader.u64Number(),
    opsLength: reader.u64Number(),
    lastTimestamp: reader.u64Number(),
  };
}

function readOffset(reader: ByteReader): Checkpoint["offsets"][number] {
  const consumerKind = reader.u32() === 1 ? 1 : 2;
  return { consumerKind, id: reader.u32(), offset: reader.u64Number() };
}

/** Length of the checkpoint that ends with these last bytes of a file, or 0 when they end none. */
export function lengthFromTrailer(trailer: Uint8Array): number {
  const view = viewOver(trailer);
  if (trailer.length < TRAILER_LENGTH || view.getUint32(0, true) !== TRAILER_MAGIC) return 0;
  return view.getUint32(4, true);
}

/** True when both name the same partition in the same life. */
export function sameIdentity(a: PartitionIdentity, b: PartitionIdentity): boolean {
  return (
    a.streamId === b.streamId &&
    a.topicId === b.topicId &&
    a.partitionId === b.partitionId &&
    a.revision === b.revision
  );
}
