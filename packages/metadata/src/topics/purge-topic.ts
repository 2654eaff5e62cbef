import { decodePurgeTopic } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import type { StreamEntry } from "../catalog/stream.ts";
import { requireTopic } from "../catalog/targets.ts";
import { identityOf, type Topic } from "../catalog/topic.ts";
import { type ApplyResult, type CommittedOp, success } from "../committed-op.ts";
import type { Effect } from "../effect.ts";
import { requireGrant } from "../permissions/may.ts";

/**
 * Empties a topic and keeps it.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, Unauthorized
 */
export function purgeTopic(catalog: Catalog, op: CommittedOp): ApplyResult {
  const { stream, topic } = requireTopic(catalog, decodePurgeTopic(op.body));
  requireGrant(catalog, op.user, "manage-topic", { stream: stream.id, topic: topic.id });
  return success(purgeOne(stream, topic, op.op));
}

/** Starts a new purge generation of one topic and tells every partition. */
export function purgeOne(stream: StreamEntry, topic: Topic, generation: number): Effect[] {
  stream.topics.replace({ ...topic, purgeGeneration: generation });
  return topic.partitions.map((partition) => ({
    kind: "partition-purged",
    partition: identityOf(topic, partition),
    generation,
  }));
}
