import {
  CompressionCode,
  type PartitionRecord,
  type TopicDetails,
  type TopicRecord,
} from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson, readOptions, sizeText } from "./option-json.ts";

/** Topic. */
export function topicJson(topic: TopicRecord): { readonly [name: string]: JsonValue } {
  return {
    id: topic.id,
    created_at: topic.createdAt,
    name: topic.name,
    size: sizeText(topic.byteLength),
    message_expiry: topic.messageExpiry,
    compression_algorithm: topic.compression === CompressionCode.gzip ? "gzip" : "none",
    max_topic_size: topic.maxTopicSize,
    messages_count: topic.messagesCount,
    partitions_count: topic.partitionsCount,
    options: optionsJson(topic.explicitOptions, topic.derivedOptions),
  };
}

/** TopicDetails. */
export function topicDetailsJson(topic: TopicDetails): JsonValue {
  return { ...topicJson(topic), partitions: topic.partitions.map(partitionJson) };
}

function partitionJson(partition: PartitionRecord): JsonValue {
  return {
    id: partition.id,
    created_at: partition.createdAt,
    segments_count: partition.segmentsCount,
    current_offset: partition.currentOffset,
    size: sizeText(partition.byteLength),
    messages_count: partition.messagesCount,
  };
}

const COMPRESSIONS = { none: CompressionCode.none, gzip: CompressionCode.gzip } as const;

/** The counterpart of `topicJson`. */
export function readTopicJson(fields: Fields): TopicRecord {
  const { explicit, derived } = readOptions(fields);
  return {
    id: fields.u32("id"),
    createdAt: fields.count("created_at"),
    partitionsCount: fields.u32("partitions_count"),
    messageExpiry: fields.u64("message_expiry"),
    compression: fields.choice("compression_algorithm", COMPRESSIONS),
    maxTopicSize: fields.u64("max_topic_size"),
    byteLength: fields.byteSize("size"),
    messagesCount: fields.count("messages_count"),
    name: fields.text("name"),
    explicitOptions: explicit,
    derivedOptions: derived,
  };
}

/** The counterpart of `topicDetailsJson`. */
export function readTopicDetailsJson(fields: Fields): TopicDetails {
  return { ...readTopicJson(fields), partitions: fields.objects("partitions").map(readPartition) };
}

function readPartition(fields: Fields): PartitionRecord {
  return {
    id: fields.u32("id"),
    createdAt: fields.count("created_at"),
    segmentsCount: fields.u32("segments_count"),
    currentOffset: fields.count("current_offset"),
    byteLength: fields.byteSize("size"),
    messagesCount: fields.count("messages_count"),
  };
}
