import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { decodeWith, encodeWith, readPresence, readRecords } from "../body-codec.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import {
  type GroupStanding,
  type PartitionKey,
  readGroupStanding,
  readPartitionKey,
  writeGroupStanding,
  writePartitionKey,
} from "./group-standing.ts";

/** Partitions that one reply tells about at most. */
export const CLUSTER_GROUPS_MAX = 1000;

/**
 * Asks a node of a cluster where each node stands in the metadata group and in a page of the partitions'
 * groups. A command of our own: servers of others do not know it.
 */
export interface GetClusterGroups {
  /** `next` of the page before; absent for the first one. */
  readonly after?: PartitionKey | undefined;
  /** Partitions at most, see `CLUSTER_GROUPS_MAX`; with 0 only the metadata group. */
  readonly countMax: number;
  /** Only partitions of this stream; with `topic` only of that one of its topics. */
  readonly stream?: Identifier | undefined;
  readonly topic?: Identifier | undefined;
}

/** What one node says; nothing of one that did not answer. */
export interface ClusterNodeStanding {
  readonly replica: number;
  /** Its replica of the metadata group. */
  readonly metadata: GroupStanding | undefined;
}

/** A partition's group: its replicas, in the order of the nodes. */
export interface ClusterPartitionGroup extends PartitionKey {
  /** Nothing for a node that did not answer or does not know the partition. */
  readonly standings: readonly (GroupStanding | undefined)[];
}

/** Where the groups stand, each node as of its own answer. */
export interface ClusterGroups {
  /** By replica id. */
  readonly nodes: readonly ClusterNodeStanding[];
  /** By ascending ids. */
  readonly partitions: readonly ClusterPartitionGroup[];
  /** Where the next page begins; nothing at the end. */
  readonly next: PartitionKey | undefined;
}

/**
 * Shape: has a place u8 (then stream u32, topic u32, partition u32), count u32, filter u8: 0 all, 1 one
 * stream (then its identifier), 2 one topic (then both identifiers).
 */
export function encodeGetClusterGroups(asked: GetClusterGroups): Uint8Array {
  return encodeWith(writeAsked, asked);
}

/** The counterpart of `encodeGetClusterGroups`; throws WireError. */
export function decodeGetClusterGroups(bytes: Uint8Array): GetClusterGroups {
  return decodeWith(readAsked, bytes);
}

/**
 * Shape: count of nodes u8, each: replica u8, standing; count of partitions u32, each: stream u32, topic u32,
 * partition u32, one standing per node; then has next u8 (and a place). A standing is 0 u8, or 1 u8, status
 * u8, view u32, op u64, commit u64.
 */
export function encodeGetClusterGroupsReply(groups: ClusterGroups): Uint8Array {
  return encodeWith(writeGroups, groups);
}

/** The counterpart of `encodeGetClusterGroupsReply`; throws WireError. */
export function decodeGetClusterGroupsReply(payload: Uint8Array): ClusterGroups {
  return decodeWith(readGroups, payload);
}

function writeAsked(writer: ByteWriter, { after, countMax, stream, topic }: GetClusterGroups): void {
  writeOptional(writer, after, writePartitionKey);
  writer.u32(countMax);
  const filters = [stream, topic].filter((one) => one !== undefined);
  writer.u8(filters.length);
  for (const one of filters) writeIdentifier(writer, one);
}

function readAsked(reader: ByteReader): GetClusterGroups {
  const after = readOptional(reader, readPartitionKey);
  const countMax = reader.u32();
  const at = reader.position;
  const filters = reader.u8();
  if (filters > 2) throw new WireError("unknown_kind", at);
  const stream = filters > 0 ? readIdentifier(reader) : undefined;
  const topic = filters > 1 ? readIdentifier(reader) : undefined;
  return { after, countMax, stream, topic };
}

function writeGroups(writer: ByteWriter, { nodes, partitions, next }: ClusterGroups): void {
  writer.u8(nodes.length);
  for (const { replica, metadata } of nodes) {
    writer.u8(replica);
    writeOptional(writer, metadata, writeGroupStanding);
  }
  writer.u32(partitions.length);
  for (const partition of partitions) {
    writePartitionKey(writer, partition);
    for (const standing of partition.standings) writeOptional(writer, standing, writeGroupStanding);
  }
  writeOptional(writer, next, writePartitionKey);
}

function readGroups(reader: ByteReader): ClusterGroups {
  const nodes = readRecords(reader, readNode, reader.u8());
  const readPartition = (from: ByteReader): ClusterPartitionGroup => ({
    ...readPartitionKey(from),
    standings: readRecords(from, (each) => readOptional(each, readGroupStanding), nodes.length),
  });
  const partitions = readRecords(reader, readPartition, reader.u32());
  return { nodes, partitions, next: readOptional(reader, readPartitionKey) };
}

function readNode(reader: ByteReader): ClusterNodeStanding {
  return { replica: reader.u8(), metadata: readOptional(reader, readGroupStanding) };
}

function writeOptional<T>(
  writer: ByteWriter,
  value: T | undefined,
  write: (writer: ByteWriter, value: T) => void,
): void {
  writer.u8(value === undefined ? 0 : 1);
  if (value !== undefined) write(writer, value);
}

function readOptional<T>(reader: ByteReader, read: (reader: ByteReader) => T): T | undefined {
  return readPresence(reader) ? read(reader) : undefined;
}
