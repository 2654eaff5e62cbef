import { optionEntries, type Topic } from "@millrace/metadata";
import type { PartitionRecord, TopicDetails, TopicRecord } from "@millrace/protocol";
import { handleOf } from "../../admission/find-target.ts";
import type { Shard } from "../../shard.ts";

/** What a partition, a topic or a stream holds. */
export interface Contents {
  readonly byteLength: number;
  readonly messagesCount: number;
  readonly segmentsCount: number;
}

/** A topic as replies show it, with the contents of its partitions added up. */
export function topicRecord(shard: Shard, topic: Topic): TopicRecord {
  const { byteLength, messagesCount } = topicContents(shard, topic);
  return {
    id: topic.id,
    createdAt: topic.createdAt,
    partitionsCount: topic.partitions.length,
    messageExpiry: topic.messageExpiry,
    compression: topic.compression,
    maxTopicSize: topic.maxTopicSize,
    byteLength,
    messagesCount,
    name: topic.name,
    explicitOptions: optionEntries(topic.explicitOptions),
    derivedOptions: optionEntries(topic.derivedOptions),
  };
}

/** A topic with its partitions. */
export function topicDetails(shard: Shard, topic: Topic): TopicDetails {
  return { ...topicRecord(shard, topic), partitions: partitionRecords(shard, topic) };
}

/** Contents of all partitions of a topic. */
export function topicContents(shard: Shard, topic: Topic): Contents {
  let byteLength = 0;
  let messagesCount = 0;
  let segmentsCount = 0;
  for (const partition of topic.partitions) {
    const contents = handleOf(shard, topic, partition).contents;
    byteLength += contents.byteLength;
    messagesCount += contents.messagesCount;
    segmentsCount += contents.segmentsCount;
  }
  return { byteLength, messagesCount, segmentsCount };
}

function partitionRecords(shard: Shard, topic: Topic): PartitionRecord[] {
  return topic.partitions.map((partition) => ({
    id: partition.id,
    createdAt: partition.createdAt,
    ...handleOf(shard, topic, partition).contents,
  }));
}
