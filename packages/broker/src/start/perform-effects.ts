import type { Effect } from "@millrace/metadata";
import type { GroupPlane } from "../consumer-groups/group-plane.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";

/** Who has a part in what an op asks for. */
export interface EffectParts {
  readonly partitions: PartitionPlane;
  readonly groups: GroupPlane;
  /** Called at once, while the catalog is as the op left it. */
  userChanged(user: number): void;
}

/**
 * Starts everything an op asks for, in order, and settles when all of it is done.
 * @param view  in which the metadata group numbered the op; nothing when that is not known
 * @returns false when nobody on this node can tell whether a partition is purged
 */
export async function performEffects(
  parts: EffectParts,
  effects: readonly Effect[],
  view: number | undefined,
): Promise<boolean> {
  const done = await Promise.all(effects.map((effect) => performEffect(parts, effect, view)));
  return !done.includes(false);
}

function performEffect(
  { partitions, groups, userChanged }: EffectParts,
  effect: Effect,
  view: number | undefined,
): Promise<unknown> | undefined {
  switch (effect.kind) {
    case "partition-created":
      return partitions.create(effect.partition, effect.topic, view);
    case "partition-deleted":
      return partitions.delete(effect.partition);
    case "partition-purged":
      return partitions.purge(effect.partition, effect.generation).then((isHeld) => {
        groups.purged(effect.partition);
        return isHeld;
      });
    case "group-changed":
      groups.changed(effect.group);
      return undefined;
    case "group-deleted":
      return groups.deleted(effect.group);
    case "user-changed":
      userChanged(effect.user);
      return undefined;
  }
}
