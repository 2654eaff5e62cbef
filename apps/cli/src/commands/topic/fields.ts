import type { Partition, Topic } from "@millrace/client";
import type { FieldValue } from "@millrace/framing";
import { expirySecondsText } from "../../formats/expiry.ts";
import { sizeLimitText } from "../../formats/size.ts";
import { timestampText } from "../../formats/timestamp.ts";
import { optionText, valueJson } from "../../formats/typed-field-text.ts";
import type { Field } from "../../output/result.ts";

/** What is shown of a topic, in the order of `topic list`. */
export const TOPIC_FIELDS: readonly Field<Topic>[] = [
  { name: "id", title: "ID", value: (topic) => topic.id },
  {
    name: "created_at",
    title: "Created",
    value: (topic) => topic.createdAt,
    text: (topic) => timestampText(topic.createdAt),
  },
  { name: "name", title: "Name", value: (topic) => topic.name },
  { name: "size_bytes", title: "Size (B)", value: (topic) => topic.size },
  {
    name: "max_topic_size",
    title: "Max Topic Size (B)",
    value: (topic) => topic.maxTopicSize,
    text: (topic) => sizeLimitText(topic.maxTopicSize),
  },
  { name: "compression", title: "Compression", value: (topic) => topic.compression },
  {
    name: "message_expiry",
    title: "Message Expiry (s)",
    value: (topic) => topic.messageExpiry,
    text: (topic) => expirySecondsText(topic.messageExpiry),
  },
  { name: "messages_count", title: "Messages Count", value: (topic) => topic.messagesCount },
  { name: "partitions_count", title: "Partitions Count", value: (topic) => topic.partitionsCount },
];

/** What is shown of a partition. The offset of an empty one is null: 0 would claim a message. */
export const PARTITION_FIELDS: readonly Field<Partition>[] = [
  { name: "id", title: "Partition", value: (partition) => partition.id },
  {
    name: "created_at",
    title: "Created",
    value: (partition) => partition.createdAt,
    text: (partition) => timestampText(partition.createdAt),
  },
  { name: "segments_count", title: "Segments", value: (partition) => partition.segmentsCount },
  {
    name: "current_offset",
    title: "Current Offset",
    value: (partition) => (partition.messagesCount === 0n ? null : partition.currentOffset),
  },
  { name: "size_bytes", title: "Size (B)", value: (partition) => partition.size },
  { name: "messages_count", title: "Messages", value: (partition) => partition.messagesCount },
];

/** An option of a topic and whether it was set or is the default. */
export interface TopicOption {
  readonly key: string;
  readonly value: FieldValue;
  readonly explicit: boolean;
}

/** What is shown of an option of a topic. */
export const TOPIC_OPTION_FIELDS: readonly Field<TopicOption>[] = [
  { name: "key", title: "Option", value: (option) => option.key },
  {
    name: "value",
    title: "Value",
    value: (option) => valueJson(option.value),
    text: ({ key, value }) => optionText(key, value),
  },
  {
    name: "explicit",
    title: "Set by",
    value: (option) => option.explicit,
    text: (option) => (option.explicit ? "topic" : "default"),
  },
];
