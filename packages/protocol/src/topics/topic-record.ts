import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readRecords } from "../body-codec.ts";
import { type OptionEntries, readOptionsBlock, writeOptionsBlock } from "../options.ts";
import {
  type PartitionRecord,
  readPartitionRecord,
  writePartitionRecord,
} from "../partitions/partition-record.ts";
import { type Compression, readCompression } from "./compression.ts";

/** The u64 that means "never" for a message expiry and "unlimited" for a topic's size. */
export const U64_MAX: bigint = 0xffff_ffff_ffff_ffffn;

/**
 * A topic as replies show it.
 *
 * `createdAt` and `messageExpiry` are micros; expiry and size limit come from clients, so they are bigint,
 * and `U64_MAX` means never and unlimited. Options that were sent stand in `explicitOptions`, the others,
 * with their defaults, in `derivedOptions`.
 */
export interface TopicRecord {
  readonly id: number;
  readonly createdAt: number;
  readonly partitionsCount: number;
  readonly messageExpiry: bigint;
  readonly compression: Compression;
  readonly maxTopicSize: bigint;
  readonly byteLength: number;
  readonly messagesCount: number;
  readonly name: string;
  readonly explicitOptions: OptionEntries;
  readonly derivedOptions: OptionEntries;
}

/** A topic with its partitions, sorted by id. */
export interface TopicDetails extends TopicRecord {
  readonly partitions: readonly PartitionRecord[];
}

/** Shape: section 8.4. */
export function writeTopicRecord(writer: ByteWriter, topic: TopicRecord): void {
  writer.u32(topic.id).u64(topic.createdAt).u32(topic.partitionsCount);
  writer.u64(topic.messageExpiry).u8(topic.compression).u64(topic.maxTopicSize);
  writer.u64(topic.byteLength).u64(topic.messagesCount).name(topic.name);
  writeOptionsBlock(writer, topic.explicitOptions);
  writeOptionsBlock(writer, topic.derivedOptions);
}

/** The counterpart of `writeTopicRecord`. */
export function readTopicRecord(reader: ByteReader): TopicRecord {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    partitionsCount: reader.u32(),
    messageExpiry: reader.u64(),
    compression: readCompression(reader),
    maxTopicSize: reader.u64(),
    byteLength: reader.u64Number(),
    messagesCount: reader.u64Number(),
    name: reader.name(),
    explicitOptions: readOptionsBlock(reader),
    derivedOptions: readOptionsBlock(reader),
  };
}

/** Shape: the record, whose count of partitions is that of the list, then the partition records. */
export function writeTopicDetails(writer: ByteWriter, topic: TopicDetails): void {
  writeTopicRecord(writer, { ...topic, partitionsCount: topic.partitions.length });
  for (const partition of topic.partitions) writePartitionRecord(writer, partition);
}

/** The counterpart of `writeTopicDetails`. */
export function readTopicDetails(reader: ByteReader): TopicDetails {
  const topic = readTopicRecord(reader);
  return { ...topic, partitions: readRecords(reader, readPartitionRecord, topic.partitionsCount) };
}
