import { CodedError, ErrorCode } from "@millrace/errors";
import type { RepairPartitionReply } from "@millrace/protocol";
import type { Partition, RepairedOffsets } from "@millrace/storage";
import type { PartitionGroup } from "../partition-group.ts";

/**
 * See `PartitionHandle.repair`; a partition that could not be opened is opened anew first. Operations that
 * come meanwhile wait. In a cluster it is `Refetch` that repairs.
 * @param reopen  closes the partition and opens it behind the damage
 */
export async function repairPartition(
  group: PartitionGroup,
  offsets: RepairedOffsets,
  reopen: () => Promise<void>,
): Promise<RepairPartitionReply> {
  const { fault } = group;
  if (fault === undefined) return withoutRepair("healthy", group.openPartition);
  if (group.partition !== undefined && fault.code !== ErrorCode.PartitionDamaged) {
    const text = "Only damage can be repaired. Restart the server when the disk is well again.";
    throw new CodedError(fault.code, text, { cause: fault });
  }
  if (offsets === "proven" && group.partition?.offsetsFault !== undefined) {
    return withoutRepair("offsets-in-doubt", group.partition);
  }
  await reopen();
  const partition = group.openPartition;
  const { repaired } = partition;
  if (repaired === undefined) {
    return withoutRepair(partition.fault === undefined ? "healthy" : "offsets-in-doubt", partition);
  }
  return {
    outcome: "repaired",
    offsets: repaired.offsets,
    nextOffset: repaired.nextOffset,
    damage: repaired.damage.message,
  };
}

function withoutRepair(outcome: "healthy" | "offsets-in-doubt", partition: Partition): RepairPartitionReply {
  const damage = partition.fault?.message ?? "";
  return { outcome, offsets: "proven", nextOffset: partition.nextOffset, damage };
}
