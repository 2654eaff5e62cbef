import { ByteWriter } from "@millrace/framing";
import type { Log } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import { GROUP_KIND } from "../../consumer-groups/group-kind.ts";
import type { PartitionGroup } from "../partition-group.ts";
import { shownOf } from "../shown-partition.ts";

/** A consumer group's stored offset; nothing also when damage hides it. */
export function groupOffset(group: PartitionGroup, groupId: number): number | undefined {
  const partition = shownOf(group);
  if (partition === undefined || partition.offsetsFault !== undefined) return undefined;
  return partition.consumerOffset(GROUP_KIND, groupId);
}

/** Consumer groups with an offset in a partition; none where damage hides them. */
export function storedGroups(group: PartitionGroup): readonly number[] {
  const partition = shownOf(group);
  if (partition === undefined || partition.offsetsFault !== undefined) return [];
  return partition.consumerOffsetIds(GROUP_KIND);
}

/**
 * See `PartitionHandle.forgetGroup`. No later group gets the id, so a failure waits until it is looked for
 * again, and nothing is said of one while the partition takes no writes: that was told. The group's primary
 * does it for its other replicas.
 */
export async function forgetGroup(group: PartitionGroup, groupId: number, log: Log): Promise<void> {
  await new Promise<void>((resolve) => group.afterOpen(resolve));
  if (!group.isPrimary || !hasOffset(group, groupId)) return;
  if (group.fault !== undefined) {
    group.lookForSpace();
    return;
  }
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

/** Whether there is an offset to remove, also one that is stored and not committed yet. */
function hasOffset(group: PartitionGroup, groupId: number): boolean {
  const partition = shownOf(group);
  if (partition === undefined || partition.offsetsFault !== undefined) return false;
  const isStored = partition.consumerOffset(GROUP_KIND, groupId) !== undefined;
  return isStored || partition.acceptedConsumerOffset(GROUP_KIND, groupId) !== undefined;
}
