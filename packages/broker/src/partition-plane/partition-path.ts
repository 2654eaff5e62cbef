import type { PartitionIdentity } from "@millrace/storage";

/** Folder of everything that partitions keep. */
export const STREAMS_PATH = "streams";

/**
 * Folder of one partition. It carries the op that created the partition, so that one deleted and created
 * again under its id never meets the old one's files.
 */
export function partitionPath({ streamId, topicId, partitionId, revision }: PartitionIdentity): string {
  return `${STREAMS_PATH}/${streamId}/topics/${topicId}/partitions/${partitionId}-${revision}`;
}

/** Id and revision of a partition's folder name, or nothing for a name of another kind. */
export function parsePartitionFolder(name: string): { partitionId: number; revision: number } | undefined {
  const [, partitionId, revision] = /^(\d{1,7})-(\d{1,16})$/.exec(name) ?? [];
  if (partitionId === undefined || revision === undefined) return undefined;
  return { partitionId: Number(partitionId), revision: Number(revision) };
}
