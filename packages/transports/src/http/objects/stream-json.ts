import type { StreamDetails, StreamRecord } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson, readOptions, sizeText } from "./option-json.ts";
import { readTopicJson, topicJson } from "./topic-json.ts";

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

/** The counterpart of `streamJson`. */
export function readStreamJson(fields: Fields): StreamRecord {
  return {
    id: fields.u32("id"),
    createdAt: fields.count("created_at"),
    topicsCount: fields.u32("topics_count"),
    byteLength: fields.byteSize("size"),
    messagesCount: fields.count("messages_count"),
    name: fields.text("name"),
    options: readOptions(fields).explicit,
  };
}

/** The counterpart of `streamDetailsJson`. */
export function readStreamDetailsJson(fields: Fields): StreamDetails {
  return { ...readStreamJson(fields), topics: fields.objects("topics").map(readTopicJson) };
}
