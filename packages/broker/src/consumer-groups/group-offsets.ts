import { ByteWriter } from "@millrace/framing";
import type { Log } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";

/** Kind of a consumer group's offsets. */
export const GROUP_KIND = 2;

/** Groups with an offset in a partition; none where damage hides them. */
export function storedGroups({ partition }: PartitionGroup): readonly number[] {
  if (partition === undefined || partition.offsetsFault !== undefined) return [];
  return partition.consumerOffsetIds(GROUP_KIND);
}

/**
 * Makes a partition forget a group that is gone; settles when that is committed or has failed. A failure is
 * only logged: the next start tries again, and no later group gets the id.
 */
export async function removeGroupOffset(group: PartitionGroup, groupId: number, log: Log): Promise<void> {
  await new Promise<void>((resolve) => group.afterOpen(resolve));
  group.polled.forget(groupId);
  if (!storedGroups(group).includes(groupId)) return;
  await new Promise<void>((resolve) =>
    group.submit({
      operation: StorageOperation.deleteOffset,
      client: SERVER_CLIENT,
      request: 0n,
      user: 0,
      body: new ByteWriter().u8(GROUP_KIND).u32(groupId).finish(),
      committed: () => resolve(),
      failed: (code) => {
        log.warn("The offset of a deleted group could not be removed.", { ...group.identity, groupId, code });
        resolve();
      },
    }),
  );
}
