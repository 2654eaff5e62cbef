import type { PartitionIdentity } from "./catalog/partition.ts";
import type { Topic } from "./catalog/topic.ts";
import type { GroupPlace } from "./consumer-groups/consumer-group.ts";

/** What a committed op asks of those who hold partitions and sessions, in the order given. */
export type Effect =
  | { readonly kind: "partition-created"; readonly partition: PartitionIdentity; readonly topic: Topic }
  | { readonly kind: "partition-deleted"; readonly partition: PartitionIdentity }
  /** Every message and offset from before is gone. `generation` is the op of the purge. */
  | {
      readonly kind: "partition-purged";
      readonly partition: PartitionIdentity;
      readonly generation: number;
    }
  /** Members or their partitions changed: hand-overs began, ended or are no more. */
  | { readonly kind: "group-changed"; readonly group: GroupPlace }
  /** The group is gone; its stored offsets go too. */
  | { readonly kind: "group-deleted"; readonly group: GroupPlace }
  /** Name, status, permissions or password of the user changed, or there is a new user. */
  | { readonly kind: "user-changed"; readonly user: number };
