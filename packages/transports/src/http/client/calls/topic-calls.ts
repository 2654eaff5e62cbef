import { fieldValue, isWireError, type TypedField } from "@millrace/framing";
import {
  type CommandName,
  decodeCreateTopic,
  decodeDeleteTopic,
  decodeGetTopic,
  decodeGetTopicRetention,
  decodeGetTopics,
  decodePurgeTopic,
  decodeUpdateTopic,
  encodeCreateTopicReply,
  encodeGetTopicReply,
  encodeGetTopicRetentionReply,
  encodeGetTopicsReply,
  type OptionEntries,
} from "@millrace/protocol";
import type { JsonValue } from "../../json/write-json.ts";
import { optionTextsJson } from "../../objects/option-json.ts";
import { readTopicRetentionJson } from "../../objects/retention-json.ts";
import { readTopicDetailsJson, readTopicJson } from "../../objects/topic-json.ts";
import {
  findOne,
  getList,
  getOne,
  type MakeCall,
  postOne,
  send,
  streamPath,
  topicPath,
  withQuery,
} from "./api-call.ts";

/** Fields that the making of a topic needs, as the server fills in what the binary request leaves out. */
const STANDARD = { compression_algorithm: "none", message_expiry: 0, max_topic_size: 0 } as const;

/** Topics. */
export const TOPIC_CALLS: Readonly<Partial<Record<CommandName, MakeCall>>> = {
  GetTopics: (body) =>
    getList(`${streamPath(decodeGetTopics(body))}/topics`, readTopicJson, encodeGetTopicsReply),
  GetTopic: (body) => findOne(topicPath(decodeGetTopic(body)), readTopicDetailsJson, encodeGetTopicReply),
  GetTopicRetention: (body) => {
    const { firstPartitionId, partitionsCount, ...target } = decodeGetTopicRetention(body);
    const query = { first_partition_id: firstPartitionId, partitions_count: partitionsCount };
    const path = withQuery(`${topicPath(target)}/retention`, query);
    return getOne(path, readTopicRetentionJson, encodeGetTopicRetentionReply);
  },
  CreateTopic: (body) => {
    const { name, partitionsCount, options, ...target } = decodeCreateTopic(body);
    const request = { name, partitions_count: partitionsCount, ...STANDARD, ...settingsJson(options) };
    return postOne(`${streamPath(target)}/topics`, request, readTopicDetailsJson, encodeCreateTopicReply);
  },
  UpdateTopic: (body) => {
    const { name, options, ...target } = decodeUpdateTopic(body);
    return send("PUT", topicPath(target), { name, ...settingsJson(options) });
  },
  DeleteTopic: (body) => send("DELETE", topicPath(decodeDeleteTopic(body))),
  PurgeTopic: (body) => send("DELETE", `${topicPath(decodePurgeTopic(body))}/purge`),
};

/** The options that have fields of their own in the API, and the others. */
function settingsJson(options: OptionEntries): { readonly [name: string]: JsonValue } {
  const settings: Record<string, JsonValue> = {};
  const others = options.filter(({ key, value }) => {
    const own = Object.hasOwn(STANDARD, key) ? plainValue(value) : undefined;
    if (own !== undefined) settings[key] = own;
    return own === undefined;
  });
  return others.length === 0 ? settings : { ...settings, options: optionTextsJson(others) };
}

/** A text or a number; undefined for a value of another kind, which the server judges as an option. */
function plainValue(field: TypedField): string | number | bigint | undefined {
  try {
    const value = fieldValue(field);
    return typeof value === "boolean" || value instanceof Uint8Array ? undefined : value;
  } catch (error) {
    if (!isWireError(error)) throw error;
    return undefined;
  }
}
