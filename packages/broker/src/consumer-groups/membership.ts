import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type ConsumerGroup,
  type GroupPlace,
  isBeingRevoked,
  memberOf,
  type Topic,
} from "@millrace/metadata";
import { type Identifier, identifierText } from "@millrace/protocol";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";

/** A group of a topic, if it exists. */
export function findConsumerGroup(shard: Shard, topic: Topic, group: Identifier): ConsumerGroup | undefined {
  return shard.catalog.groupsOf(topic).find(group);
}

/** The group. @throws CodedError ConsumerGroupIdNotFound */
export function requireConsumerGroup(shard: Shard, topic: Topic, identifier: Identifier): ConsumerGroup {
  const group = findConsumerGroup(shard, topic, identifier);
  if (group !== undefined) return group;
  throw new CodedError(
    ErrorCode.ConsumerGroupIdNotFound,
    `Consumer group ${identifierText(identifier)} does not exist in topic ${topic.id}.`,
  );
}

/** Where a group of the topic is. */
export function placeOf(topic: Topic, group: ConsumerGroup): GroupPlace {
  return { streamId: topic.streamId, topicId: topic.id, groupId: group.id };
}

/** Client id of the member a session polls and commits for: its own, unless it is attached to another. */
export function memberClientOf({ client, attachedTo }: Session): bigint {
  return attachedTo?.client ?? client;
}

/** A session that is attached to another one is over, for the group, when the other one is. */
function isOver({ metadata }: Shard, { isFenced, attachedTo }: Session): boolean {
  if (isFenced || attachedTo === undefined) return isFenced;
  return metadata.clientTable.session(attachedTo.client)?.epoch !== attachedTo.session;
}

/** What a session may do with one partition for its group: poll and commit, only commit, or nothing. */
export type Right = "poll" | "commit" | "none";

/**
 * The right of a session now. An older login of a client id that has logged in again has none: its successor
 * is the member.
 */
export function rightOf(shard: Shard, session: Session, place: GroupPlace, partitionId: number): Right {
  if (isOver(shard, session)) return "none";
  const group = shard.catalog.findGroup(place);
  const member = group && memberOf(group, memberClientOf(session));
  if (member?.partitions.includes(partitionId) !== true) return "none";
  return isBeingRevoked(member, partitionId) ? "commit" : "poll";
}
