import { decodeBody, decodeGetConsumerGroups, encodeGetConsumerGroupsReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findTopic } from "../../admission/find-target.ts";
import { answering } from "../handler.ts";
import { groupRecord } from "./get-consumer-group.ts";

/** Every consumer group of a topic by ascending id. Codes: 1009, 2010, 41. */
export const getConsumerGroups = answering((shard, request, session) => {
  const asked = decodeBody(decodeGetConsumerGroups, request.body);
  const { stream, topic } = findTopic(shard, asked);
  checkPermission(shard, session, "read-topic", { stream: stream.id, topic: topic.id });
  const groups = shard.catalog.groupsOf(topic).list();
  return encodeGetConsumerGroupsReply(groups.map((group) => groupRecord(topic, group)));
});
