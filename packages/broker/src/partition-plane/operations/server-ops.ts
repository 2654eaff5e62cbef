import { ByteWriter } from "@millrace/framing";
import type { Log } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import { GROUP_KIND } from "../../consumer-groups/group-kind.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { PurgeOp } from "../partition-op.ts";

/** A consumer group's stored offset; nothing also when damage hides it. */
export function groupOffset({ partition }: PartitionGroup, groupId: number): number | undefined {
  if (partition === undefined || partition.offsetsFault !== undefined) return undefined;
  return partition.consumerOffset(GROUP_KIND, groupId);
}

/** Consumer groups with an offset in a partition; none where damage hides them. */
export function storedGroups({ partition }: PartitionGroup): readonly number[] {
  if (partition === undefined || partition.offsetsFault !== undefined) return [];
  return partition.consumerOffsetIds(GROUP_KIND);
}

/** See `PartitionHandle.forgetGroup`. No later group gets the id, so a failure waits for the next start. */
export async function forgetGroup(group: PartitionGroup, groupId: number, log: Log): Promise<void> {
  await new Promise<void>((resolve) => group.afterOpen(resolve));
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

/** See `PartitionHandle.purge`. */
export async function purgePartition(group: PartitionGroup, generation: number, log: Log): Promise<void> {
  const { partition } = group;
  if ((partition?.purgeGeneration ?? 0) >= generation) return;
  await new Promise<void>((resolve) => {
    const op: PurgeOp = {
      operation: StorageOperation.purge,
      generation,
      client: SERVER_CLIENT,
      request: 0n,
      user: 0,
      body: new ByteWriter(8).u64(generation).finish(),
      committed: () => resolve(),
      failed: (code) => {
        const facts = { ...group.identity, generation, code };
        log.error("A partition could not be purged; that comes before the next write to it.", facts);
        resolve();
      },
    };
    if (partition !== undefined) return group.purge(op);
    group.owePurge(op);
    resolve();
  });
}
