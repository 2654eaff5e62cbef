import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readRecords, readU32List, writeU32List } from "../body-codec.ts";

/** A consumer group as replies show it. `partitionsCount` is that of its topic. */
export interface GroupRecord {
  readonly id: number;
  readonly partitionsCount: number;
  readonly membersCount: number;
  readonly name: string;
}

/** One member: its slot in the group and the partitions it owns. */
export interface GroupMember {
  readonly id: number;
  readonly partitions: readonly number[];
}

/** A consumer group with its members. */
export interface GroupDetails extends GroupRecord {
  readonly members: readonly GroupMember[];
}

/** Shape: id u32, partitions u32, members u32, name. Section 8.8. */
export function writeGroupRecord(writer: ByteWriter, group: GroupRecord): void {
  writer.u32(group.id).u32(group.partitionsCount).u32(group.membersCount).name(group.name);
}

/** The counterpart of `writeGroupRecord`. */
export function readGroupRecord(reader: ByteReader): GroupRecord {
  return {
    id: reader.u32(),
    partitionsCount: reader.u32(),
    membersCount: reader.u32(),
    name: reader.name(),
  };
}

/** Shape: the record, whose count of members is that of the list, then slot u32 and a u32 list for each. */
export function writeGroupDetails(writer: ByteWriter, group: GroupDetails): void {
  writeGroupRecord(writer, { ...group, membersCount: group.members.length });
  for (const { id, partitions } of group.members) writeU32List(writer.u32(id), partitions);
}

/** The counterpart of `writeGroupDetails`. */
export function readGroupDetails(reader: ByteReader): GroupDetails {
  const group = readGroupRecord(reader);
  return { ...group, members: readRecords(reader, readGroupMember, group.membersCount) };
}

function readGroupMember(reader: ByteReader): GroupMember {
  return { id: reader.u32(), partitions: readU32List(reader) };
}
