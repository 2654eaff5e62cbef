import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeRepairPartition,
  encodeRepairPartitionReply,
  type RepairPartition,
  type RepairPartitionReply,
} from "@millrace/protocol";
import type { Partition } from "@millrace/storage";
import { checkPermission } from "../../admission/check-permission.ts";
import { findGroup, findTopic } from "../../admission/find-target.ts";
import type { PartitionGroup } from "../../partition-plane/partition-group.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refuseWith, refusingErrors } from "../handler.ts";

/**
 * Makes a damaged partition take writes again behind the damage, see `repairDamage` of storage; a partition
 * that could not be opened is opened anew first. Operations that come meanwhile wait.
 *
 * Codes: 1009, 2010, 3007, 41, `FileFenced` when a write or a datasync failed (what the disk holds is in
 * doubt
 * until a start reads it), and others of the disk.
 */
export const repairPartition: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeRepairPartition, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const group = findGroup(shard, topic, asked.partitionId);
  checkPermission(shard, session, "manage-topic", { stream: stream.id, topic: topic.id });
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const answer = async () => {
        const reply = await repair(group, asked.offsets, () =>
          shard.partitions.reopen(group, topic, asked.offsets),
        );
        request.answer([encodeRepairPartitionReply(reply)], directFields(shard, request.connection));
      };
      answer().catch((error: unknown) => refuseWith(shard, request, error));
    }),
  );
};

async function repair(
  group: PartitionGroup,
  offsets: RepairPartition["offsets"],
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
