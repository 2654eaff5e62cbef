import type { KeyHash } from "@millrace/framing";
import { findPartition, type Partition, type Topic } from "@millrace/metadata";
import type { Partitioning } from "@millrace/protocol";
import type { BalancedCounters } from "./balanced-counters.ts";

/**
 * The partition a batch goes to, or nothing when it does not exist or the topic has none.
 *
 * Turn and key choose an index into the topic's partitions sorted by id.
 * @see wire-protocol section 10
 */
export function choosePartition(
  topic: Topic,
  partitioning: Partitioning,
  by: { readonly counters: BalancedCounters; readonly keyHash: KeyHash },
): Partition | undefined {
  const count = topic.partitions.length;
  if (partitioning.kind === "partition") return findPartition(topic, partitioning.partitionId);
  if (count === 0) return undefined;
  const index = partitioning.kind === "key" ? by.keyHash(partitioning.key) % count : by.counters.next(topic);
  return topic.partitions[index];
}
