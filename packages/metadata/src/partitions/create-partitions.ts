import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeCreatePartitions } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { rebalanceTopic } from "../consumer-groups/remove-member.ts";
import { requireGrant } from "../permissions/may.ts";
import { appendPartitions, partitionsCreated } from "./append-partitions.ts";

/**
 * Adds partitions at the end.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized, InvalidPartitionsCount,
 *         PartitionIdSpaceExhausted
 */
export function createPartitions(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeCreatePartitions(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  if (request.partitionsCount === 0) throw new CodedError(ErrorCode.InvalidPartitionsCount);
  const partitions = appendPartitions(topic.partitions, request.partitionsCount, op);
  const grown = { ...topic, partitions };
  stream.topics.replace(grown);
  const created = partitionsCreated(grown, partitions.slice(topic.partitions.length));
  return success([...created, ...rebalanceTopic(catalog, grown)]);
}
