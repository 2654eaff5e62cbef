import type { PartitionIdentity } from "./catalog/partition.ts";
import type { Topic } from "./catalog/topic.ts";

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
  /** Name, status, permissions or password of the user changed, or there is a new user. */
  | { readonly kind: "user-changed"; readonly user: number };
