import type { StreamDetails, StreamRecord } from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson, sizeText } from "./option-json.ts";
import { topicJson } from "./topic-json.ts";

/** Stream. */
export function streamJson(stream: StreamRecord): { readonly [name: string]: JsonValue } {
  return {
    id: stream.id,
    created_at: stream.createdAt,
    name: stream.name,
    size: sizeText(stream.byteLength),
    messages_count: stream.messagesCount,
    topics_count: stream.topicsCount,
    options: optionsJson(stream.options),
  };
}

/** StreamDetails. */
export function streamDetailsJson(stream: StreamDetails): JsonValue {
  return { ...streamJson(stream), topics: stream.topics.map(topicJson) };
}
