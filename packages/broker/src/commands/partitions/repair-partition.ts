import { decodeBody, decodeRepairPartition, encodeRepairPartitionReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { settingsOf } from "../../partition-plane/partition-settings.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refuseWith } from "../handler.ts";

/**
 * Makes a damaged partition take writes again behind the damage, see `repairDamage` of storage; a partition
 * that could not be opened is opened anew first. Operations that come meanwhile wait.
 *
 * Codes: 1009, 2010, 3007, 41, `FileFenced` when a write or a datasync failed (what the disk holds is in
 * doubt
 * until a start reads it), `FeatureUnavailable` in a cluster, and others of the disk.
 */
export const repairPartition: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeRepairPartition, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const handle = findHandle(shard, topic, asked.partitionId);
  checkPermission(shard, session, "manage-topic", { stream: stream.id, topic: topic.id });
  const answer = async () => {
    const reply = await handle.repair(settingsOf(topic), asked.offsets);
    request.answer([encodeRepairPartitionReply(reply)], directFields(shard, request.connection));
  };
  handle.afterOpen(() => answer().catch((error: unknown) => refuseWith(shard, request, error)));
};
