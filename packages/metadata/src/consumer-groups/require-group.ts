import { CodedError, ErrorCode } from "@millrace/errors";
import { type Identifier, identifierText } from "@millrace/protocol";
import type { Catalog } from "../catalog/catalog.ts";
import { requireTopic } from "../catalog/targets.ts";
import type { Topic } from "../catalog/topic.ts";
import { requireGrant } from "../permissions/may.ts";
import type { ConsumerGroup } from "./consumer-group.ts";

/** Names one group in a request. */
export interface GroupTarget {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly group: Identifier;
}

/** A group together with its topic. */
export interface FoundGroup {
  readonly topic: Topic;
  readonly group: ConsumerGroup;
}

/**
 * The group, when the user may work with it.
 * @throws CodedError StreamIdNotFound, TopicIdNotFound, ConsumerGroupIdNotFound, Unauthorized
 */
export function requireGroup(catalog: Catalog, target: GroupTarget, user: number): FoundGroup {
  const { stream, topic } = requireTopic(catalog, target);
  const group = catalog.groups.of(topic).find(target.group);
  if (group === undefined) {
    throw new CodedError(
      ErrorCode.ConsumerGroupIdNotFound,
      `Consumer group ${identifierText(target.group)} does not exist in topic ${topic.id}.`,
    );
  }
  requireGrant(catalog, user, "read-topic", { stream: stream.id, topic: topic.id });
  return { topic, group };
}
