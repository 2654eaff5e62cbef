import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeDeletePartitions } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { rebalanceTopic } from "../consumer-groups/remove-member.ts";
import { requireGrant } from "../permissions/may.ts";
import { partitionsDeleted } from "../topics/delete-topic.ts";

/**
 * Removes the partitions with the highest ids.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized, InvalidPartitionsCount for more than
 *         there are
 */
export function deletePartitions(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeDeletePartitions(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  const kept = topic.partitions.length - request.partitionsCount;
  if (request.partitionsCount === 0 || kept < 0) throw new CodedError(ErrorCode.InvalidPartitionsCount);
  const shrunk = { ...topic, partitions: topic.partitions.slice(0, kept) };
  stream.topics.replace(shrunk);
  const groups = rebalanceTopic(catalog, shrunk);
  return success([...groups, ...partitionsDeleted(topic, topic.partitions.slice(kept))]);
}
