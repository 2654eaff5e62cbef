import { decodeDeleteTopic } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import type { Partition } from "../catalog/partition.ts";
import { requireTopic } from "../catalog/targets.ts";
import { identityOf, type Topic } from "../catalog/topic.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import type { Effect } from "../effect.ts";
import { forgetTopicRights } from "../permissions/forget-rights.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Deletes a topic with its partitions and consumer groups, and the rights on it.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized
 */
export function deleteTopic(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { stream, topic } = requireTopic(catalog, decodeDeleteTopic(op.body));
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  stream.topics.remove(topic);
  forgetTopicRights(catalog, { stream: stream.id, topic: topic.id });
  return success(topicDeleted(catalog, topic));
}

/** What a topic takes with it: its consumer groups and its partitions. */
export function topicDeleted(catalog: Catalog, topic: Topic): Effect[] {
  const groups = catalog.groups.removeTopic(topic);
  return [
    ...groups.map((group): Effect => ({ kind: "group-deleted", group })),
    ...partitionsDeleted(topic, topic.partitions),
  ];
}

/** One effect for each of these partitions of the topic. */
export function partitionsDeleted(topic: Topic, partitions: readonly Partition[]): Effect[] {
  return partitions.map((partition) => ({
    kind: "partition-deleted",
    partition: identityOf(topic, partition),
  }));
}
