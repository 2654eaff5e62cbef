import type { ViewLog } from "@millrace/storage";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import type { Shard } from "../shard.ts";

/**
 * Notes of groups that are not open by the end of this start that they may have lost what they did not sync.
 * The op that makes their partition is executed again later, perhaps after another start; or the disk refused
 * to open it, perhaps before that was noted, and it is tried again: neither knows of the loss.
 * @throws CodedError what the disk answers
 */
export async function noteLossOfClosed(
  { partitions }: Pick<Shard, "partitions">,
  viewLog: ViewLog,
): Promise<void> {
  const closed = viewLog.identities().filter((identity) => {
    const handle = partitions.find(identity);
    return !(handle instanceof LocalPartition) || handle.group.partition === undefined;
  });
  await Promise.all(closed.map((identity) => viewLog.note(identity, { mayHaveLost: true })));
}
