import { ByteWriter } from "@millrace/framing";
import type { Clock, Log } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import { GROUP_KIND } from "../../consumer-groups/group-kind.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { PurgeOp } from "../partition-op.ts";
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
 * See `PartitionHandle.forgetGroup`. No later group gets the id, so a failure waits for the next start. The
 * group's primary does it for its other replicas.
 */
export async function forgetGroup(group: PartitionGroup, groupId: number, log: Log): Promise<void> {
  await new Promise<void>((resolve) => group.afterOpen(resolve));
  if (!group.isPrimary || !hasOffset(group, groupId)) return;
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

/** Milliseconds between two looks whether the group's primary has purged, or this replica became it. */
const PURGE_RETRY_DELAY_MS = 100;

/** What purging needs of its host. */
export interface PurgeHost {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * See `PartitionHandle.purge`. In a group of several replicas the primary asks for it, whichever that is by
 * then, and the others wait until they have it from there. A silent replica hears of nothing: it lets nobody
 * wait for longer than the others need to hear of the decision, before which they take nothing more. Once it
 * begins anew it takes up the purge again.
 */
export async function purgePartition(
  group: PartitionGroup,
  generation: number,
  host: PurgeHost,
): Promise<void> {
  group.purges.decide(generation);
  if (group.replication !== undefined) {
    await new Promise<void>((resolve) => void purgeTogether({ group, generation, host }, resolve));
  } else if ((group.partition?.purgeGeneration ?? 0) < generation) {
    await purgeHere(group, generation, host.log);
  }
}

/** @param done  called once it is done or not to be waited for, and perhaps again */
async function purgeTogether(
  purge: { readonly group: PartitionGroup; readonly generation: number; readonly host: PurgeHost },
  done: () => void,
): Promise<void> {
  const { group, generation, host } = purge;
  let silentMs = 0;
  while (isDue(group, generation)) {
    const { replication } = group;
    silentMs = replication?.isStopped === true ? silentMs + PURGE_RETRY_DELAY_MS : 0;
    if (silentMs > (replication?.hearsayMs ?? 0)) done();
    else if (isToBeAsked(group, generation)) await purgeHere(group, generation, host.log);
    if (isDue(group, generation))
      await new Promise<void>((resolve) => host.clock.setTimer(PURGE_RETRY_DELAY_MS, resolve));
  }
  done();
}

/**
 * Journaled is not committed: a purge may still be cut. A partition that is not there just now is being cut.
 * A later purge takes the place of this one.
 */
function isDue({ partition, fault, isAhead, isClosed, purges }: PartitionGroup, generation: number): boolean {
  if (isClosed || generation < purges.decided) return false;
  if (partition === undefined) return fault === undefined;
  return isAhead || partition.committedPurgeGeneration < generation;
}

function isToBeAsked({ partition, isPrimary, isAhead, purges }: PartitionGroup, generation: number): boolean {
  const isTold = purges.isUnderWay || (partition?.purgeGeneration ?? generation) >= generation;
  return isPrimary && !isAhead && !isTold;
}

function purgeHere(group: PartitionGroup, generation: number, log: Log): Promise<void> {
  return new Promise<void>((resolve) => {
    const op: PurgeOp = {
      operation: StorageOperation.purge,
      generation,
      client: SERVER_CLIENT,
      request: 0n,
      user: 0,
      body: new ByteWriter(8).u64(generation).finish(),
      // There is room once the files are gone.
      committed: () => void (group.partition?.filesRemoved() ?? Promise.resolve()).then(resolve),
      failed: (code) => {
        const facts = { ...group.identity, generation, code };
        log.error("A partition could not be purged; that comes before the next write to it.", facts);
        resolve();
      },
    };
    if (group.partition !== undefined) return group.purge(op);
    group.purges.owe(op);
    resolve();
  });
}
