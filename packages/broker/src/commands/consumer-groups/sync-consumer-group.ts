import { memberOf, pollablePartitions } from "@millrace/metadata";
import { decodeBody, decodeSyncConsumerGroup, encodeSyncConsumerGroupReply } from "@millrace/protocol";
import { findConsumerGroup } from "../../consumer-groups/membership.ts";
import { answering } from "../handler.ts";

/**
 * The group's generation and what the session may poll; empty when it is no member, also of a group that does
 * not exist. Needs a login and no permission.
 * @see wire-protocol section 12.3
 */
export const syncConsumerGroup = answering((shard, request, session) => {
  const asked = decodeBody(decodeSyncConsumerGroup, request.body);
  const stream = shard.catalog.findStream(asked.stream);
  const topic = stream && shard.catalog.findTopic(stream, asked.topic);
  const group = topic && findConsumerGroup(shard, topic, asked.group);
  const member = group && (session.isFenced ? undefined : memberOf(group, session.client));
  if (group === undefined || member === undefined) return encodeSyncConsumerGroupReply(undefined);
  const { generation } = group;
  return encodeSyncConsumerGroupReply({ generation, partitions: pollablePartitions(member) });
});
