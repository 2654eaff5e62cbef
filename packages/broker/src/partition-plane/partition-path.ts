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

/** Folder of partitions' states that come from other nodes. */
export const INCOMING_PATH = "incoming";

/** Folder into which another node's state of a partition comes before it takes the place of its own. */
export function incomingPath({ streamId, topicId, partitionId, revision }: PartitionIdentity): string {
  return `${INCOMING_PATH}/${streamId}-${topicId}-${partitionId}-${revision}`;
}

/** Whose state an entry of that folder is, or nothing for a name of another kind. */
export function parseIncomingFolder(name: string): PartitionIdentity | undefined {
  if (!/^\d{1,10}(-\d{1,16}){3}$/.test(name)) return undefined;
  const [streamId = 0, topicId = 0, partitionId = 0, revision = 0] = name.split("-").map(Number);
  return { streamId, topicId, partitionId, revision };
}
