import { CodedError, ErrorCode } from "@millrace/errors";
import { findPartition, type Partition, type Stream, type Topic } from "@millrace/metadata";
import { type Identifier, identifierText } from "@millrace/protocol";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import { packPartition } from "../routing/pack-partition.ts";
import type { Shard } from "../shard.ts";

/** A topic and the stream it is in. */
export interface TopicPlace {
  readonly stream: Stream;
  readonly topic: Topic;
}

/** The stream. @throws CodedError StreamIdNotFound */
export function findStream(shard: Shard, identifier: Identifier): Stream {
  const stream = shard.catalog.findStream(identifier);
  if (stream !== undefined) return stream;
  throw new CodedError(ErrorCode.StreamIdNotFound, `Stream ${identifierText(identifier)} does not exist.`);
}

/** The topic and its stream. @throws CodedError StreamIdNotFound, TopicIdNotFound: the level that missed */
export function findTopic(
  shard: Shard,
  target: { readonly stream: Identifier; readonly topic: Identifier },
): TopicPlace {
  const stream = findStream(shard, target.stream);
  const topic = shard.catalog.findTopic(stream, target.topic);
  if (topic !== undefined) return { stream, topic };
  throw new CodedError(
    ErrorCode.TopicIdNotFound,
    `Topic ${identifierText(target.topic)} does not exist in stream ${stream.id}.`,
  );
}

/** One partition of a topic. @throws CodedError PartitionNotFound */
export function findHandle(shard: Shard, topic: Topic, partitionId: number): PartitionHandle {
  const partition = findPartition(topic, partitionId);
  if (partition !== undefined) return handleOf(shard, topic, partition);
  throw new CodedError(
    ErrorCode.PartitionNotFound,
    `Partition ${partitionId} does not exist in topic ${topic.id}.`,
  );
}

/**
 * The handle of a partition the catalog holds. It exists as soon as the op that created the partition is
 * executed.
 */
export function handleOf(shard: Shard, topic: Topic, partition: Partition): PartitionHandle {
  return shard.partitions.get(packPartition(topic.streamId, topic.id, partition.id));
}
