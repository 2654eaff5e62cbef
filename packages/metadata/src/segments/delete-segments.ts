import { decodeDeleteSegments } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requirePartition, requireTopic } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Says whether the partition exists and may be truncated; what is cut is the business of its own group.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, PartitionNotFound, Unauthorized
 */
export function deleteSegments(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeDeleteSegments(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requirePartition(topic, request.partitionId);
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  return success();
}
