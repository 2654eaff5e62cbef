import {
  CompressionCode,
  type PartitionRecord,
  type TopicDetails,
  type TopicRecord,
} from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson, sizeText } from "./option-json.ts";

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
