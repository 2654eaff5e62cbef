import { FieldKind } from "@millrace/framing";
import type { Schema } from "../routes/route.ts";

// JSON schemas of what the API takes and gives, for the document that describes it. @see http-api sections 4 to 7

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const u32: Schema = { type: "integer", minimum: 0, maximum: 4_294_967_295 };
/** Without a maximum: as a number of JavaScript it would not be the one that is meant. */
const u64: Schema = {
  type: "integer", format: "uint64", minimum: 0, description: "Up to 64 bits, exact; requests may give it as text",
};
const u128: Schema = { type: "integer", minimum: 0, description: "Up to 128 bits, exact; requests may give it as text" };
const number: Schema = { type: "number" };
const base64: Schema = { type: "string", format: "byte" };
const size: Schema = { type: "string", example: "2048 B" };
const numberOrText: Schema = { oneOf: [u32, text] };

const nullable = (schema: Schema): Schema => ({ ...schema, nullable: true });
const listOf = (items: Schema): Schema => ({ type: "array", items });
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  ...(required.length > 0 ? { required } : {}),
});
const full = (properties: Readonly<Record<string, Schema>>): Schema => object(properties, Object.keys(properties));
const mapOf = (values: Schema): Schema => ({ type: "object", additionalProperties: values });
const word = (...words: string[]): Schema => ({ type: "string", enum: words });
const flags = (...names: string[]) => Object.fromEntries(names.map((name) => [name, flag]));

const optionTexts: Schema = mapOf(text);
const options = mapOf(full({ value: text, explicit: flag }));

const topicFields = {
  id: u32, created_at: u64, name: text, size, message_expiry: u64, compression_algorithm: word("none", "gzip"),
  max_topic_size: u64, messages_count: u64, partitions_count: u32, options,
};
const partition = full({
  id: u32, created_at: u64, segments_count: u32, current_offset: u64, size, messages_count: u64,
});
const streamFields = {
  id: u32, created_at: u64, name: text, size, messages_count: u64, topics_count: u32, options,
};
const topic: Schema = full(topicFields);
const topicDetails: Schema = full({ ...topicFields, partitions: listOf(partition) });
const retentionSum = full({ segments_count: u32, messages_count: u64, size });
const retentionHolder = full({
  kind: word("consumer", "consumer_group"), id: u32, name: nullable(text), owned: flag, stored_offset: u64,
  segments_count: u32, due_segments_count: u32,
});
const topicRetention: Schema = full({
  cleaner_enabled: flag, cleaner_interval: u64, partition_budget: nullable(u64), budget_raised: flag,
  partitions: listOf(full({
    id: u32, fault: nullable(u32), first_offset: u64, sealed: retentionSum, expired: retentionSum,
    over_size: retentionSum, removable: retentionSum, held_back: retentionSum, holders_count: u32,
    holders: listOf(retentionHolder),
  })),
});
const topicSettings = {
  name: text, compression_algorithm: word("none", "gzip"), message_expiry: u64, max_topic_size: u64, options: optionTexts,
};
const stream: Schema = full(streamFields);
const streamDetails: Schema = full({ ...streamFields, topics: listOf(topic) });

const topicPermissions = object(flags("manage_topic", "read_topic", "poll_messages", "send_messages"));
const streamPermissions = object({
  ...flags("manage_stream", "read_stream", "manage_topics", "read_topics", "poll_messages", "send_messages"),
  topics: nullable(mapOf(topicPermissions)),
});
const permissions: Schema = nullable(object({
  global: object(flags(
    "manage_servers", "read_servers", "manage_users", "read_users", "manage_streams", "read_streams",
    "manage_topics", "read_topics", "poll_messages", "send_messages",
  )),
  streams: nullable(mapOf(streamPermissions)),
}));
const userFields = { id: u32, created_at: u64, status: word("active", "inactive"), username: text, options };
const user: Schema = full(userFields);
const userDetails: Schema = full({ ...userFields, permissions });
const tokenInfo: Schema = full({ name: text, expiry_at: nullable(u64) });
const identity: Schema = full({ user_id: u32, access_token: full({ token: text, expiry: u64 }) });

const clientFields = {
  client_id: u32, user_id: nullable(u32), address: text, transport: word("TCP", "QUIC", "HTTP", "WebSocket"),
  consumer_groups_count: u32,
};
const membership = full({ stream_id: u32, topic_id: u32, group_id: u32 });
const client: Schema = full(clientFields);
const clientDetails: Schema = full({ ...clientFields, consumer_groups: listOf(membership) });

const groupFields = { id: u32, name: text, partitions_count: u32, members_count: u32 };
const group: Schema = full(groupFields);
const groupDetails: Schema = full({
  ...groupFields,
  members: listOf(full({ id: u32, partitions_count: u32, partitions: listOf(u32) })),
});
const consumerOffset: Schema = full({ partition_id: u32, current_offset: u64, stored_offset: u64 });

const kind = word(...Object.keys(FieldKind));
const optionSpec: Schema = full({ key: text, kind, default_value: listOf(u32), description: text });
const endpoints = full({ tcp: u32, quic: u32, http: u32, websocket: u32 });
const cluster: Schema = full({
  name: text,
  nodes: listOf(full({
    name: text, ip: text, endpoints, role: word("leader", "follower"),
    status: word("healthy", "starting", "stopping", "unreachable", "maintenance"),
  })),
});
const stats: Schema = full({
  process_id: u32, cpu_usage: number, total_cpu_usage: number, memory_usage: size, total_memory: size,
  available_memory: size, run_time: u64, start_time: u64, read_bytes: size, written_bytes: size,
  messages_size_bytes: size, streams_count: u32, topics_count: u32, partitions_count: u32, segments_count: u32,
  messages_count: u64, clients_count: u32, consumer_groups_count: u32, hostname: text, os_name: text,
  os_version: text, kernel_version: text, iggy_server_version: text, iggy_server_semver: nullable(u32),
  cache_metrics: mapOf(full({ hits: u64, misses: u64, hit_ratio: number })), threads_count: u32,
  free_disk_space: size, total_disk_space: size,
});
const snapshot: Schema = object({
  compression: word("Stored", "Deflated", "Bzip2", "Zstd", "Lzma", "Xz"),
  snapshot_types: listOf(word(
    "FilesystemOverview", "ProcessList", "ResourceUsage", "Test", "ServerLogs", "ServerConfig", "All",
  )),
});

const typedField = full({ kind, value: base64 });
const userHeaders = { oneOf: [listOf(full({ key: typedField, value: typedField })), base64] };
const sendMessages: Schema = object({
  partitioning: object({ kind: word("balanced", "partition_id", "messages_key"), value: base64 }, ["kind"]),
  messages: listOf(object(
    { id: { oneOf: [u128, text] }, payload: base64, user_headers: nullable(userHeaders) },
    ["payload"],
  )),
}, ["partitioning", "messages"]);
const confirmations: Schema = full({
  confirmations: listOf(full({ stream_id: u32, topic_id: u32, partition_id: u32, base_offset: u64 })),
});
const messageHeader = full({
  checksum: u64, id: u128, offset: u64, timestamp: u64, origin_timestamp: u64, user_headers_length: u32,
  payload_length: u32, reserved: u64,
});
const polledMessages: Schema = full({
  partition_id: u32, current_offset: u64, count: u32,
  messages: listOf(full({ header: messageHeader, payload: base64, user_headers: userHeaders })),
});
const passwordLogin: Schema = object(
  { username: text, password: text, version: text, context: text },
  ["username", "password"],
);
const tokenLogin: Schema = object({ token: text }, ["token"]);
const error: Schema = full({ id: u32, code: text, reason: text, field: nullable(text) });

/** JSON schemas by the name of what they describe, and the two that make schemas of others. */
export const schema = {
  text, flag, u32, u64, u128, number, base64, size, numberOrText, nullable, listOf, object,
  optionTexts, topic, topicDetails, topicRetention, topicSettings, stream, streamDetails, permissions, user,
  userDetails, tokenInfo, identity, client, clientDetails, group, groupDetails, consumerOffset,
  optionSpec, cluster, stats, snapshot, sendMessages, confirmations, polledMessages, passwordLogin,
  tokenLogin, error,
};
