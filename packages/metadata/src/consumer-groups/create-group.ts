import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeCreateConsumerGroup,
  encodeCreateConsumerGroupReply,
  GROUPS_PER_TOPIC_MAX,
} from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Creates a group without members under the topic's next group id; the creator does not join.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized, ConsumerGroupNameAlreadyExists,
 *         TooManyConsumerGroups
 */
export function createConsumerGroup(catalog: Catalog, op: CommittedOp): ApplyResult {
  const request = decodeCreateConsumerGroup(op.body);
  const { stream, topic } = requireTopic(catalog, request);
  requireGrant(catalog, op.user, "read-topic", { stream: stream.id, topic: topic.id });
  const groups = catalog.groups.of(topic);
  if (groups.byName(request.name) !== undefined) {
    throw new CodedError(ErrorCode.ConsumerGroupNameAlreadyExists);
  }
  if (groups.size >= GROUPS_PER_TOPIC_MAX) {
    throw new CodedError(
      ErrorCode.TooManyConsumerGroups,
      `A topic has ${GROUPS_PER_TOPIC_MAX} groups at most.`,
    );
  }
  const { id, name } = catalog.groups.create(topic, request.name);
  const record = { id, name, partitionsCount: topic.partitions.length, membersCount: 0, members: [] };
  return success([], encodeCreateConsumerGroupReply(record));
}
