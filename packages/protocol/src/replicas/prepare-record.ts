import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readList, readZeros, writeList } from "./field-forms.ts";

/** Bytes of a record: its fields, and zeros to the next multiple of 16. */
export const PREPARE_RECORD_LENGTH = 128;
const PADDING_LENGTH = 14;

/** Records in one message at most: as many ops as may be in flight in a group. */
export const PREPARE_RECORDS_MAX = 127;

/** An op of a group's log without its body, as replicas tell it each other. Views are u32, ops below 2^53. */
export interface PrepareRecord {
  readonly view: number;
  readonly op: number;
  readonly parent: bigint;
  readonly checksum: bigint;
  readonly client: bigint;
  readonly bodyChecksum: bigint;
  readonly session: number;
  readonly request: bigint;
  /** Micros since the epoch. */
  readonly timestamp: number;
  readonly commit: number;
  readonly user: number;
  readonly operation: number;
  /** The replica that numbered the op. */
  readonly replica: number;
}

/** Writes the 128 bytes of a record. */
export function writePrepareRecord(writer: ByteWriter, record: PrepareRecord): void {
  writer
    .u128(record.parent)
    .u128(record.checksum)
    .u128(record.client)
    .u128(record.bodyChecksum)
    .u64(record.op)
    .u64(record.session)
    .u64(record.request)
    .u64(record.timestamp)
    .u64(record.commit)
    .u32(record.view)
    .u32(record.user)
    .u8(record.operation)
    .u8(record.replica)
    .zero(PADDING_LENGTH);
}

/**
 * @throws WireError `reserved_not_zero` for padding that is not zero; `bad_value` for a number from 2^53 on
 */
export function readPrepareRecord(reader: ByteReader): PrepareRecord {
  const [parent, checksum, client, bodyChecksum] = [
    reader.u128(),
    reader.u128(),
    reader.u128(),
    reader.u128(),
  ];
  const [op, session, request] = [reader.u64Number(), reader.u64Number(), reader.u64()];
  const [timestamp, commit] = [reader.u64Number(), reader.u64Number()];
  const [view, user, operation, replica] = [reader.u32(), reader.u32(), reader.u8(), reader.u8()];
  readZeros(reader, PADDING_LENGTH);
  return {
    view,
    op,
    parent,
    checksum,
    client,
    bodyChecksum,
    session,
    request,
    timestamp,
    commit,
    user,
    operation,
    replica,
  };
}

/** Records behind their count; ops in any order, for the group judges those. */
export function writePrepareRecords(writer: ByteWriter, records: readonly PrepareRecord[]): void {
  writeList(writer, records, { countMax: PREPARE_RECORDS_MAX, write: writePrepareRecord });
}

/** @throws WireError `too_many` above 127 */
export function readPrepareRecords(reader: ByteReader): readonly PrepareRecord[] {
  return readList(reader, { countMax: PREPARE_RECORDS_MAX, read: readPrepareRecord });
}
