import type { PartitionIdentity, ViewLog } from "@millrace/storage";
import type { Shard } from "../shard.ts";

/**
 * Notes of groups that were not opened at this start that they may have lost what they did not sync: the op
 * that makes their partition is executed again later, perhaps after another start, which knows of no loss.
 * @throws CodedError what the disk answers
 */
export async function noteLossOfClosed(
  { partitions }: Pick<Shard, "partitions">,
  viewLog: ViewLog,
): Promise<void> {
  const closed = viewLog.identities().filter((identity) => partitions.find(identity) === undefined);
  await Promise.all(closed.map((identity) => noteLoss(viewLog, identity)));
}

function noteLoss(viewLog: ViewLog, identity: PartitionIdentity): Promise<void> {
  return new Promise((resolve, reject) =>
    viewLog.write(identity, { mayHaveLost: true }, (error) =>
      error === undefined ? resolve() : reject(error),
    ),
  );
}
