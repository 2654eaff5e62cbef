import type { Stream } from "@millrace/metadata";
import { NO_OPTIONS, type StreamDetails, type StreamRecord } from "@millrace/protocol";
import type { Shard } from "../../shard.ts";
import { topicContents, topicRecord } from "../topics/topic-records.ts";

/** A stream as replies show it, with the contents of its topics added up. */
export function streamRecord(shard: Shard, stream: Stream): StreamRecord {
  const contents = stream.topics.list().map((topic) => topicContents(shard, topic));
  return {
    ...headOf(stream),
    byteLength: contents.reduce((sum, one) => sum + one.byteLength, 0),
    messagesCount: contents.reduce((sum, one) => sum + one.messagesCount, 0),
  };
}

/** A stream with its topics. */
export function streamDetails(shard: Shard, stream: Stream): StreamDetails {
  const topics = stream.topics.list().map((topic) => topicRecord(shard, topic));
  return {
    ...headOf(stream),
    byteLength: topics.reduce((sum, one) => sum + one.byteLength, 0),
    messagesCount: topics.reduce((sum, one) => sum + one.messagesCount, 0),
    topics,
  };
}

function headOf(stream: Stream) {
  const { id, createdAt, name } = stream;
  return { id, createdAt, name, topicsCount: stream.topics.size, options: NO_OPTIONS };
}
