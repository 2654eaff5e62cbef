import type { ConsumerGroup, Topic } from "@millrace/metadata";
import {
  decodeBody,
  decodeGetConsumerGroup,
  encodeGetConsumerGroupReply,
  type GroupDetails,
  type GroupRecord,
} from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findTopic } from "../../admission/find-target.ts";
import { findConsumerGroup } from "../../consumer-groups/membership.ts";
import { answering } from "../handler.ts";

/**
 * One consumer group with its members and what they own; empty when it does not exist. Codes: 1009, 2010, 41.
 */
export const getConsumerGroup = answering((shard, request, session) => {
  const asked = decodeBody(decodeGetConsumerGroup, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const group = findConsumerGroup(shard, topic, asked.group);
  if (group === undefined) return encodeGetConsumerGroupReply(undefined);
  checkPermission(shard, session, "read-topic", { stream: stream.id, topic: topic.id });
  return encodeGetConsumerGroupReply(groupDetails(topic, group));
});

/** A group as lists show it. */
export function groupRecord(topic: Topic, { id, name, members }: ConsumerGroup): GroupRecord {
  return { id, name, partitionsCount: topic.partitions.length, membersCount: members.length };
}

function groupDetails(topic: Topic, group: ConsumerGroup): GroupDetails {
  const members = group.members.map(({ slot, partitions }) => ({ id: slot, partitions }));
  return { ...groupRecord(topic, group), members };
}
