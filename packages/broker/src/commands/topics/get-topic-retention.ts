import type { Topic } from "@millrace/metadata";
import {
  decodeBody,
  decodeGetTopicRetention,
  encodeGetTopicRetentionReply,
  RETENTION_PARTITIONS_MAX,
} from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findTopic, handleOf } from "../../admission/find-target.ts";
import { partitionRetention } from "../../retention/partition-retention.ts";
import { retentionPolicy } from "../../retention/retention-policy.ts";
import type { RetentionLook } from "../../retention/truncation.ts";
import type { Shard } from "../../shard.ts";
import { answerBody, type Handler, refuseWith } from "../handler.ts";

/** Budget of a topic without a size limit. */
const UNLIMITED = 0xffff_ffff_ffff_ffffn;
const MICROS_PER_MS = 1000;

/**
 * What retention would remove of a topic's partitions now, and who keeps what. A read of ours; it needs the
 * rights of GetTopic.
 *
 * Codes: 1009 unknown stream, 2010 unknown topic, 41.
 */
export const getTopicRetention: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeGetTopicRetention, request.body);
  const { topic } = findTopic(shard, asked);
  checkPermission(shard, session, "read-topic", { stream: topic.streamId, topic: topic.id });
  const partitions = topic.partitions
    .filter(({ id }) => id >= asked.firstPartitionId)
    .slice(0, Math.min(asked.partitionsCount, RETENTION_PARTITIONS_MAX));
  const looks = partitions.map(async (partition) => {
    const look = await handleOf(shard, topic, partition).lookAtRetention({ forCleaning: false });
    return { partitionId: partition.id, look };
  });
  Promise.all(looks)
    .then((found) => answerBody(shard, request, encodeFound(shard, topic, found)))
    .catch((error: unknown) => refuseWith(shard, request, error));
};

function encodeFound(
  shard: Shard,
  topic: Topic,
  found: readonly { readonly partitionId: number; readonly look: RetentionLook }[],
): Uint8Array {
  const { messageCleaner, messageLengthMax } = shard.config;
  const policy = retentionPolicy(topic, messageLengthMax);
  const { sealedLengthMax, isBudgetRaised } = policy;
  return encodeGetTopicRetentionReply({
    isCleanerEnabled: messageCleaner.isEnabled,
    cleanerIntervalMicros: messageCleaner.intervalMs * MICROS_PER_MS,
    partitionBudget: sealedLengthMax === undefined ? UNLIMITED : BigInt(sealedLengthMax),
    isBudgetRaised,
    partitions: found.map(({ partitionId, look }) =>
      partitionRetention(shard, topic, partitionId, { ...look, policy }),
    ),
  });
}
