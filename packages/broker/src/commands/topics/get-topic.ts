import { decodeBody, decodeGetTopic, encodeGetTopicReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { answeringContents } from "../handler.ts";
import { topicDetails } from "./topic-records.ts";

/** One topic with its partitions; empty when stream or topic does not exist. */
export const getTopic = answeringContents((shard, request, session) => {
  const asked = decodeBody(decodeGetTopic, request.body);
  const stream = shard.catalog.findStream(asked.stream);
  const topic = stream && shard.catalog.findTopic(stream, asked.topic);
  if (topic === undefined) return encodeGetTopicReply(undefined);
  checkPermission(shard, session, "read-topic", { stream: topic.streamId, topic: topic.id });
  return encodeGetTopicReply(topicDetails(shard, topic));
});
