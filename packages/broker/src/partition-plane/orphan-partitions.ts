import type { Disk, Log } from "@millrace/platform";
import { deletePartitionFiles, type PartitionIdentity } from "@millrace/storage";
import { parsePartitionFolder, partitionPath, STREAMS_PATH } from "./partition-path.ts";

/**
 * Finishes what a stop interrupted: folders of partitions that a committed op has deleted are removed.
 *
 * A folder no live partition owns was created by an op at or below `commit` and deleted by a later one. A
 * folder that names a later op, or that is named otherwise, is nobody's business here: it stays, with a
 * warning.
 */
export async function removeOrphanPartitions(options: {
  readonly disk: Disk;
  readonly log: Log;
  readonly commit: number;
  readonly isLive: (identity: PartitionIdentity) => boolean;
}): Promise<void> {
  const { disk, log, commit, isLive } = options;
  for await (const found of partitionFolders(disk)) {
    if (found.identity !== undefined && isLive(found.identity)) continue;
    if (found.identity !== undefined && found.identity.revision <= commit) {
      log.info("Files of a deleted partition are removed.", { path: found.path });
      await deletePartitionFiles(disk, found.path);
    } else log.warn("An unknown folder among the partitions is left alone.", { path: found.path });
  }
}

interface FoundFolder {
  readonly path: string;
  /** Nothing when the name is no partition's. */
  readonly identity: PartitionIdentity | undefined;
}

async function* partitionFolders(disk: Disk): AsyncIterable<FoundFolder> {
  for (const streamId of await numericFolders(disk, STREAMS_PATH)) {
    const topicsPath = `${STREAMS_PATH}/${streamId}/topics`;
    for (const topicId of await numericFolders(disk, topicsPath)) {
      const path = `${topicsPath}/${topicId}/partitions`;
      for (const { name } of await disk.readDirectory(path)) {
        const folder = parsePartitionFolder(name);
        const identity = folder && { streamId, topicId, ...folder };
        // A name such as `007-1` parses and is not the one we give.
        const isOurs = identity !== undefined && partitionPath(identity) === `${path}/${name}`;
        yield { path: `${path}/${name}`, identity: isOurs ? identity : undefined };
      }
    }
  }
}

async function numericFolders(disk: Disk, path: string): Promise<number[]> {
  const entries = await disk.readDirectory(path);
  return entries
    .filter(({ name, kind }) => kind === "directory" && /^\d{1,10}$/.test(name))
    .map(({ name }) => Number(name));
}
