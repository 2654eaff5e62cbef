import type { OptionMap } from "../options/option-map.ts";
import type { TopicSettings } from "../options/topic-settings.ts";
import type { Partition, PartitionIdentity } from "./partition.ts";

/** One topic. A later op replaces the object, so look it up again rather than keep it. */
export interface Topic extends TopicSettings {
  readonly streamId: number;
  readonly id: number;
  readonly name: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  /** Op that created it. */
  readonly revision: number;
  /** By ascending id. Ids are not promised to be 0..n-1. */
  readonly partitions: readonly Partition[];
  readonly explicitOptions: OptionMap;
  readonly derivedOptions: OptionMap;
  /** Op of the latest purge, 0 when there was none. */
  readonly purgeGeneration: number;
}

/** The partition with this id. */
export function findPartition(topic: Topic, partitionId: number): Partition | undefined {
  const usual = topic.partitions[partitionId];
  if (usual?.id === partitionId) return usual;
  return topic.partitions.find((partition) => partition.id === partitionId);
}

/** The lasting name of one of the topic's partitions. */
export function identityOf(topic: Topic, { id, revision }: Partition): PartitionIdentity {
  return { streamId: topic.streamId, topicId: topic.id, partitionId: id, revision };
}

/** The purge a partition must have gone through: its topic's latest, unless the partition is younger. */
export function purgeGenerationOf(topic: Topic, partition: Partition): number {
  return topic.purgeGeneration > partition.revision ? topic.purgeGeneration : 0;
}
