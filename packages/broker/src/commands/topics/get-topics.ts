import { decodeBody, decodeGetTopics, encodeGetTopicsReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { answeringContents } from "../handler.ts";
import { topicRecord } from "./topic-records.ts";

/** Every topic of a stream by ascending id; none for a stream that does not exist. */
export const getTopics = answeringContents((shard, request, session) => {
  const asked = decodeBody(decodeGetTopics, request.body);
  const stream = shard.catalog.findStream(asked.stream);
  if (stream === undefined) return encodeGetTopicsReply([]);
  checkPermission(shard, session, "list-topics", { stream: stream.id });
  return encodeGetTopicsReply(stream.topics.list().map((topic) => topicRecord(shard, topic)));
});
