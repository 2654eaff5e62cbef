import type { Stream } from "@millrace/client";
import { timestampText } from "../../formats/timestamp.ts";
import type { Field } from "../../output/result.ts";

/** What is shown of a stream, in the order of `stream list`. */
export const STREAM_FIELDS: readonly Field<Stream>[] = [
  { name: "id", title: "ID", value: (stream) => stream.id },
  {
    name: "created_at",
    title: "Created",
    value: (stream) => stream.createdAt,
    text: (stream) => timestampText(stream.createdAt),
  },
  { name: "name", title: "Name", value: (stream) => stream.name },
  { name: "size_bytes", title: "Size (B)", value: (stream) => stream.size },
  { name: "messages_count", title: "Messages", value: (stream) => stream.messagesCount },
  { name: "topics_count", title: "Topics", value: (stream) => stream.topicsCount },
];
