import { CodedError, ErrorCode } from "@millrace/errors";
import type { PartitionGroup } from "../partition-group.ts";
import { type ShownPartition, shownPartition } from "../shown-partition.ts";

/**
 * What is shown of a group's partition, where what is committed here is all that was ever confirmed. On a new
 * primary it is not until the operations it took over are committed: a primary before it may have confirmed
 * them, and nobody knows yet that they stay.
 * @throws CodedError 58 until then; as `openPartition` of the group
 */
export function settledPartition(group: PartitionGroup): ShownPartition {
  if (!group.isSuffixInDoubt || group.isBackup) return shownPartition(group);
  const text = "The operations that this primary took over are not committed yet.";
  throw new CodedError(ErrorCode.TransientNotAccepted, text);
}
