import type { Effect } from "@millrace/metadata";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";

/** Starts everything an op asks of partitions, in order, and settles when all of it is done. */
export async function performEffects(partitions: PartitionPlane, effects: readonly Effect[]): Promise<void> {
  await Promise.all(effects.map((effect) => performEffect(partitions, effect)));
}

function performEffect(partitions: PartitionPlane, effect: Effect): Promise<void> | undefined {
  switch (effect.kind) {
    case "partition-created":
      return partitions.create(effect.partition, effect.topic);
    case "partition-deleted":
      return partitions.delete(effect.partition);
    case "partition-purged":
      return partitions.purge(effect.partition, effect.generation);
    case "user-changed":
      return undefined;
  }
}
