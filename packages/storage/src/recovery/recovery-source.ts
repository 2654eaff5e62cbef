import type { Commits } from "../partition/commits.ts";
import type { PartitionOptions } from "../partition/partition-options.ts";
import type { PartitionState } from "../partition/partition-state.ts";

/** What recovery works on and with. */
export interface RecoverySource {
  readonly options: PartitionOptions;
  readonly state: PartitionState;
  readonly commits: Commits;
}

/** Lost sectors of a journal of which not everything is synced are no damage; see `PartitionOptions`. */
export function isLossKnown({ options }: RecoverySource): boolean {
  const { durability, offsetDurability } = options;
  const isSynced = durability === "persisted" && offsetDurability === "persisted";
  return options.isLossKnown === true && !isSynced;
}
