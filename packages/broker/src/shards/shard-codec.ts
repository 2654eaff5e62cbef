import { assert } from "@millrace/errors";
import type { ByteReader, ByteWriter } from "@millrace/framing";
import type { PartitionIdentity, ReadResult } from "@millrace/storage";
import type {
  BatchOp,
  ClientOp,
  OffsetKey,
  OffsetOp,
  PartitionContents,
  PartitionHandle,
} from "../partition-plane/partition-handle.ts";
import type { OpResult } from "../partition-plane/partition-op.ts";
import type { PartitionSettings } from "../partition-plane/partition-settings.ts";

/** Stands for the position of a part that does not lie in the shared memory: its bytes follow. */
const INLINE = 0xffff_ffff;

/** Who a client's write is from; the session of a batch. */
export type Writer = Omit<ClientOp, "committed" | "failed"> & Partial<Pick<BatchOp, "session">>;

/** Shape: client u128, request u64, user u32, numbered u8, session u64 or 0. */
export function writeClient(writer: ByteWriter, from: Writer): void {
  const { client, request, user, isNumbered, session = 0 } = from;
  writer
    .u128(client)
    .u64(request)
    .u32(user)
    .u8(isNumbered ? 1 : 0)
    .u64(session);
}

/** The counterpart of `writeClient`. */
export function readClient(reader: ByteReader): Writer & Pick<BatchOp, "session"> {
  return {
    client: reader.u128(),
    request: reader.u64(),
    user: reader.u32(),
    isNumbered: reader.u8() === 1,
    session: reader.u64Number(),
  };
}

/** A write of an offset. Shape: client, key, code it is refused with u32 or 0 for none. */
export function writeOffsetOp(writer: ByteWriter, op: Omit<OffsetOp, "committed" | "failed">): void {
  writeClient(writer, op);
  writeKey(writer, op.key);
  writer.u32(op.refusal ?? 0);
}

/** The counterpart of `writeOffsetOp`. */
export function readOffsetOp(reader: ByteReader): Omit<OffsetOp, "committed" | "failed"> {
  const head = { ...readClient(reader), key: readKey(reader) };
  const code = reader.u32();
  return { ...head, refusal: code === 0 ? undefined : code };
}

/** Shape: kind u8, id u32. */
export function writeKey(writer: ByteWriter, { kind, id }: OffsetKey): void {
  writer.u8(kind).u32(id);
}

/** The counterpart of `writeKey`. */
export function readKey(reader: ByteReader): OffsetKey {
  return { kind: reader.u8() === 1 ? 1 : 2, id: reader.u32() };
}

/** Shape: op u64, view u32, base offset u64, timestamp u64, repeated u8. */
export function writeCommitted(writer: ByteWriter, result: OpResult): void {
  const { op, view, baseOffset, timestamp, isRepeated } = result;
  writer
    .u64(op)
    .u32(view)
    .u64(baseOffset)
    .u64(timestamp)
    .u8(isRepeated ? 1 : 0);
}

/** The counterpart of `writeCommitted`. */
export function readCommitted(reader: ByteReader): OpResult {
  return {
    op: reader.u64Number(),
    view: reader.u32(),
    baseOffset: reader.u64Number(),
    timestamp: reader.u64Number(),
    isRepeated: reader.u8() === 1,
  };
}

/** Shape: stream u32, topic u32, partition u32, revision u64. */
export function writeIdentity(writer: ByteWriter, identity: PartitionIdentity): void {
  const { streamId, topicId, partitionId, revision } = identity;
  writer.u32(streamId).u32(topicId).u32(partitionId).u64(revision);
}

/** The counterpart of `writeIdentity`. */
export function readIdentity(reader: ByteReader): PartitionIdentity {
  return {
    streamId: reader.u32(),
    topicId: reader.u32(),
    partitionId: reader.u32(),
    revision: reader.u64Number(),
  };
}

/** Shape: segment size u64, preallocate u8, persisted u8, offsets persisted u8. */
export function writeSettings(writer: ByteWriter, settings: PartitionSettings): void {
  writer.u64(settings.segmentSize).u8(settings.preallocateSegments ? 1 : 0);
  writer.u8(settings.durability === "persisted" ? 1 : 0);
  writer.u8(settings.consumerOffsetDurability === "persisted" ? 1 : 0);
}

/** The counterpart of `writeSettings`. */
export function readSettings(reader: ByteReader): PartitionSettings {
  return {
    segmentSize: reader.u64Number(),
    preallocateSegments: reader.u8() === 1,
    durability: reader.u8() === 1 ? "persisted" : "replicated",
    consumerOffsetDurability: reader.u8() === 1 ? "persisted" : "replicated",
  };
}

/** Shape: bytes u64, messages u64, segments u32, current offset u64. */
export function writeContents(writer: ByteWriter, contents: PartitionContents): void {
  writer.u64(contents.byteLength).u64(contents.messagesCount);
  writer.u32(contents.segmentsCount).u64(contents.currentOffset);
}

/** The counterpart of `writeContents`. */
export function readContents(reader: ByteReader): PartitionContents {
  return {
    byteLength: reader.u64Number(),
    messagesCount: reader.u64Number(),
    segmentsCount: reader.u32(),
    currentOffset: reader.u64Number(),
  };
}

/** What shard 0 remembers of a partition: its contents, and the offsets consumer groups have stored in it. */
export interface PartitionFacts {
  readonly contents: PartitionContents;
  readonly groupOffsets: Map<number, number>;
}

/** Shape: contents, count u32 of groups: id u32, offset u64. */
export function writeFacts(writer: ByteWriter, partition: PartitionHandle): void {
  writeContents(writer, partition.contents);
  const groups = partition.storedGroups();
  writer.u32(groups.length);
  for (const group of groups) writer.u32(group).u64(partition.groupOffset(group) ?? 0);
}

/** The counterpart of `writeFacts`. */
export function readFacts(reader: ByteReader): PartitionFacts {
  const contents = readContents(reader);
  const groupOffsets = new Map<number, number>();
  for (let left = reader.u32(); left > 0; left--) groupOffsets.set(reader.u32(), reader.u64Number());
  return { contents, groupOffsets };
}

/**
 * What a poll found, without moving it. Shape: messages u32, first offset u64, last offset u64, count u32 of
 * parts: length u32, position u32 in the shared memory; `0xffffffff` and the bytes themselves for a part that
 * lies elsewhere.
 */
export function writeReadResult(writer: ByteWriter, result: ReadResult, memory: Uint8Array): void {
  writer.u32(result.count).u64(result.firstOffset).u64(result.lastOffset).u32(result.parts.length);
  for (const part of result.parts) {
    const isShared = part.buffer === memory.buffer;
    writer.u32(part.length).u32(isShared ? part.byteOffset : INLINE);
    if (!isShared) writer.bytes(part);
  }
}

/** The counterpart of `writeReadResult`: the parts are views of the shared memory, or copies. */
export function readReadResult(reader: ByteReader, memory: Uint8Array, release: () => void): ReadResult {
  const count = reader.u32();
  const [firstOffset, lastOffset] = [reader.u64Number(), reader.u64Number()];
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let left = reader.u32(); left > 0; left--) {
    const part = readPart(reader, memory);
    parts.push(part);
    length += part.length;
  }
  return { count, firstOffset, lastOffset, length, parts, release };
}

function readPart(reader: ByteReader, memory: Uint8Array): Uint8Array {
  const length = reader.u32();
  const position = reader.u32();
  if (position === INLINE) return reader.bytes(length).slice();
  assert(position + length <= memory.length, "what another shard has read lies in the shared memory");
  return memory.subarray(position, position + length);
}
