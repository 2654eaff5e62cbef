import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readByteName, writeByteName } from "../byte-names.ts";

/** What a replica of a group is doing, by its byte. `silent`: it is not open, or failed and says nothing. */
export const GroupStatusCode = { normal: 1, "view-change": 2, recovering: 3, silent: 4 } as const;

/** Where one node's replica of a group stands. */
export interface GroupStanding {
  readonly status: keyof typeof GroupStatusCode;
  readonly view: number;
  /** Last op that has a number, committed or not. */
  readonly op: number;
  /** Last committed op. */
  readonly commit: number;
}

/** A partition by the ids it has in the catalog. */
export interface PartitionKey {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
}

/** Status u8, view u32, op u64, commit u64. */
export function writeGroupStanding(writer: ByteWriter, { status, view, op, commit }: GroupStanding): void {
  writeByteName(writer, GroupStatusCode, status);
  writer.u32(view).u64(op).u64(commit);
}

/** The counterpart of `writeGroupStanding`; throws WireError. */
export function readGroupStanding(reader: ByteReader): GroupStanding {
  const status = readByteName(reader, GroupStatusCode);
  return { status, view: reader.u32(), op: reader.u64Number(), commit: reader.u64Number() };
}

/** Stream u32, topic u32, partition u32. */
export function writePartitionKey(writer: ByteWriter, key: PartitionKey): void {
  writer.u32(key.streamId).u32(key.topicId).u32(key.partitionId);
}

/** The counterpart of `writePartitionKey`; throws WireError. */
export function readPartitionKey(reader: ByteReader): PartitionKey {
  return { streamId: reader.u32(), topicId: reader.u32(), partitionId: reader.u32() };
}
