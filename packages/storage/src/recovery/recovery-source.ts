import type { Commits } from "../partition/commits.ts";
import type { PartitionOptions } from "../partition/partition-options.ts";
import type { PartitionState } from "../partition/partition-state.ts";

/** What recovery works on and with. */
export interface RecoverySource {
  readonly options: PartitionOptions;
  readonly state: PartitionState;
  readonly commits: Commits;
}

/** Lost sectors of a journal whose messages are not synced are no damage; see `PartitionOptions`. */
export function isLossKnown({ options }: RecoverySource): boolean {
  return options.isLossKnown === true && options.durability !== "persisted";
}
