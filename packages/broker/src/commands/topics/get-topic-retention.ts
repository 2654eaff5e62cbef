import {
  decodeBody,
  decodeGetTopicRetention,
  encodeGetTopicRetentionReply,
  RETENTION_PARTITIONS_MAX,
} from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findTopic, groupOf } from "../../admission/find-target.ts";
import { partitionRetention } from "../../retention/partition-retention.ts";
import { retentionPolicy } from "../../retention/retention-policy.ts";
import { answering } from "../handler.ts";

/** Budget of a topic without a size limit. */
const UNLIMITED = 0xffff_ffff_ffff_ffffn;
const MICROS_PER_MS = 1000;

/**
 * What retention would remove of a topic's partitions now, and who keeps what. A read of ours; it needs the
 * rights of GetTopic.
 *
 * Codes: 1009 unknown stream, 2010 unknown topic, 41.
 */
export const getTopicRetention = answering((shard, request, session) => {
  const asked = decodeBody(decodeGetTopicRetention, request.body);
  const { topic } = findTopic(shard, asked);
  checkPermission(shard, session, "read-topic", { stream: topic.streamId, topic: topic.id });
  const { messageCleaner, messageLengthMax } = shard.config;
  const policy = retentionPolicy(topic, messageLengthMax);
  const { sealedLengthMax, isBudgetRaised } = policy;
  const partitions = topic.partitions
    .filter(({ id }) => id >= asked.firstPartitionId)
    .slice(0, Math.min(asked.partitionsCount, RETENTION_PARTITIONS_MAX));
  return encodeGetTopicRetentionReply({
    isCleanerEnabled: messageCleaner.isEnabled,
    cleanerIntervalMicros: messageCleaner.intervalMs * MICROS_PER_MS,
    partitionBudget: sealedLengthMax === undefined ? UNLIMITED : BigInt(sealedLengthMax),
    isBudgetRaised,
    partitions: partitions.map((partition) =>
      partitionRetention(shard, topic, groupOf(shard, topic, partition), policy),
    ),
  });
});
