import { isCodedError } from "@millrace/errors";
import type { Disk, Log } from "@millrace/platform";
import { deletePartitionFiles, type PartitionIdentity } from "@millrace/storage";
import { parsePartitionFolder, partitionPath, STREAMS_PATH } from "./partition-path.ts";

/** Where bytes go that nobody may read as good and nobody may delete. */
const QUARANTINE_PATH = "quarantine";

/**
 * Finishes what a stop interrupted: folders of partitions that a committed op has deleted are removed.
 *
 * A folder no live partition owns was created by an op at or below `commit` and deleted by a later one. A
 * folder that names a later op belongs to a partition whose creation the metadata has lost: it is moved to
 * `quarantine/`, for once its op's number is given again it would be taken for a deleted partition's or,
 * worse,
 * for the new one's. In a cluster the others know that op, and it will be executed here too: it stays. A
 * folder
 * that is named otherwise is nobody's business here: it stays, with a warning.
 */
export async function removeOrphanPartitions(options: {
  readonly disk: Disk;
  readonly log: Log;
  readonly commit: number;
  /** The other nodes of a cluster may know later ops. */
  readonly isReplicated: boolean;
  readonly isLive: (identity: PartitionIdentity) => boolean;
}): Promise<void> {
  const { disk, log, commit, isLive } = options;
  for await (const found of partitionFolders(disk)) {
    if (found.identity !== undefined && isLive(found.identity)) continue;
    if (found.identity !== undefined && found.identity.revision <= commit) {
      log.info("Files of a deleted partition are removed.", { path: found.path });
      await deletePartitionFiles(disk, found.path);
    } else if (found.identity !== undefined) {
      if (!options.isReplicated) await setAside({ ...options, ...found, identity: found.identity });
    } else log.warn("An unknown folder among the partitions is left alone.", { path: found.path });
  }
}

/** Keeps the files under a name that no partition will ever have. */
async function setAside(lost: {
  readonly disk: Disk;
  readonly log: Log;
  readonly commit: number;
  readonly path: string;
  readonly identity: PartitionIdentity;
}): Promise<void> {
  const { disk, log, commit, path, identity } = lost;
  const { streamId, topicId, partitionId, revision } = identity;
  const kept = `${QUARANTINE_PATH}/partition-${streamId}-${topicId}-${partitionId}-${revision}.at-${commit}`;
  try {
    await disk.makeDirectory(QUARANTINE_PATH);
    await disk.rename(path, kept);
    await disk.syncDirectory(QUARANTINE_PATH);
    log.error("A partition that the metadata does not know was moved aside.", { path, kept, commit });
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const facts = { path, kept, code: error.code };
    log.error("A partition that the metadata does not know could not be moved aside.", facts);
  }
}

/** A folder where partitions are. */
export interface FoundFolder {
  readonly path: string;
  /** Nothing when the name is no partition's. */
  readonly identity: PartitionIdentity | undefined;
}

/** Every folder where partitions are, whoever knows them. */
export async function* partitionFolders(disk: Disk): AsyncIterable<FoundFolder> {
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
