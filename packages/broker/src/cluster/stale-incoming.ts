import { deletePartitionFiles, type ViewLog } from "@millrace/storage";
import { INCOMING_PATH, parseIncomingFolder } from "../partition-plane/partition-path.ts";
import type { Shard } from "../shard.ts";

/**
 * Removes partitions' states that the last stop cut short on their way from another node: whoever needs one
 * asks for it anew. One that is noted to be installed stays for when its partition is opened, unless that was
 * deleted meanwhile.
 * @throws CodedError what the disk answers
 */
export async function removeStaleIncoming(
  { platform, partitions, metadata }: Pick<Shard, "platform" | "partitions" | "metadata">,
  viewLog: ViewLog,
): Promise<void> {
  const { disk } = platform;
  for (const { name, kind } of await disk.readDirectory(INCOMING_PATH)) {
    const identity = kind === "directory" ? parseIncomingFolder(name) : undefined;
    if (identity === undefined) continue;
    const isDeleted = identity.revision <= metadata.commit && partitions.find(identity) === undefined;
    if (isDeleted || !viewLog.get(identity).hasIncoming) {
      await deletePartitionFiles(disk, `${INCOMING_PATH}/${name}`);
    }
  }
}
