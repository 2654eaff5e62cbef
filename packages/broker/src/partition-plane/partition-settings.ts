import type { Topic } from "@millrace/metadata";
import type { Durability } from "@millrace/storage";

/** What the files of a partition follow from its topic. */
export interface PartitionSettings {
  /** Bytes. */
  readonly segmentSize: number;
  readonly preallocateSegments: boolean;
  readonly durability: Durability;
  readonly consumerOffsetDurability: Durability;
}

/** True where nothing is acknowledged that power loss could take. */
export function isSynced({ durability, consumerOffsetDurability }: PartitionSettings): boolean {
  return durability === "persisted" && consumerOffsetDurability === "persisted";
}

/** The settings of a topic's partitions. */
export function settingsOf(topic: Topic): PartitionSettings {
  const { segmentSize, preallocateSegments, durability, consumerOffsetDurability } = topic;
  return { segmentSize, preallocateSegments, durability, consumerOffsetDurability };
}
