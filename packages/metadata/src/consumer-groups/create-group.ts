import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeCreateConsumerGroup, encodeCreateConsumerGroupReply } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Creates a group without members under the topic's next group id; the creator does not join.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized, ConsumerGroupNameAlreadyExists
 */
export function createConsumerGroup(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeCreateConsumerGroup(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requireGrant(catalog, op.user, "read-topic", { stream: stream.id, topic: topic.id });
  if (catalog.groups.of(topic).byName(request.name) !== undefined) {
    throw new CodedError(ErrorCode.ConsumerGroupNameAlreadyExists);
  }
  const { id, name } = catalog.groups.create(topic, request.name);
  const record = { id, name, partitionsCount: topic.partitions.length, membersCount: 0, members: [] };
  return success([], encodeCreateConsumerGroupReply(record));
}
