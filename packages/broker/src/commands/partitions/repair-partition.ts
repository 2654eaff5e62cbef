import { isCodedError } from "@millrace/errors";
import { decodeBody, decodeRepairPartition, encodeRepairPartitionReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { settingsOf } from "../../partition-plane/partition-settings.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refuseWithCode } from "../handler.ts";

/**
 * Makes a damaged partition take writes again behind the damage, see `repairDamage` of storage; a partition
 * that could not be opened is opened anew first. Operations that come meanwhile wait. In a cluster the state
 * of another node takes the place of a damaged one here, see `Refetch`.
 *
 * Codes: 1009, 2010, 3007, 41, `FileFenced` when a write or a datasync failed (what the disk holds is in
 * doubt until a start reads it), `PartitionDamaged` when too few other nodes could go on, 58 when the lead
 * could not be handed over, and others of the disk; with words that say what to do.
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
  const refuse = (error: unknown) => {
    if (!isCodedError(error)) throw error;
    refuseWithCode(shard, request, error.code, error.message);
  };
  handle.afterOpen(() => answer().catch(refuse));
};
