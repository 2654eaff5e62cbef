import type { GlobalPermissions, Permissions, StreamPermissions, TopicPermissions } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";

/** Flags as the API names them, and their names in code. */
const GLOBAL_FLAGS = {
  manage_servers: "manageServers",
  read_servers: "readServers",
  manage_users: "manageUsers",
  read_users: "readUsers",
  manage_streams: "manageStreams",
  read_streams: "readStreams",
  manage_topics: "manageTopics",
  read_topics: "readTopics",
  poll_messages: "pollMessages",
  send_messages: "sendMessages",
} as const;
const STREAM_FLAGS = {
  manage_stream: "manageStream",
  read_stream: "readStream",
  manage_topics: "manageTopics",
  read_topics: "readTopics",
  poll_messages: "pollMessages",
  send_messages: "sendMessages",
} as const;
const TOPIC_FLAGS = {
  manage_topic: "manageTopic",
  read_topic: "readTopic",
  poll_messages: "pollMessages",
  send_messages: "sendMessages",
} as const;

type FlagNames = Readonly<Record<string, string>>;

/** Permissions; ids are keys, so they are text. */
export function permissionsJson({ global, streams }: Permissions): JsonValue {
  return { global: flagsJson(GLOBAL_FLAGS, global), streams: mapJson(streams, streamJson) };
}

/** The permissions of a request; a flag that is left out is false. @throws HttpError 422 */
export function readPermissions(fields: Fields): Permissions {
  return {
    global: readFlags<GlobalPermissions>(fields.object("global"), GLOBAL_FLAGS),
    streams: readMap(fields, "streams", readStream),
  };
}

function streamJson(stream: StreamPermissions): { readonly [name: string]: JsonValue } {
  return {
    ...flagsJson(STREAM_FLAGS, stream),
    topics: mapJson(stream.topics, (topic) => flagsJson(TOPIC_FLAGS, topic)),
  };
}

function readStream(fields: Fields): StreamPermissions {
  const flags = readFlags<Omit<StreamPermissions, "topics">>(fields, STREAM_FLAGS);
  return {
    ...flags,
    topics: readMap(fields, "topics", (inner) => readFlags<TopicPermissions>(inner, TOPIC_FLAGS)),
  };
}

function flagsJson(names: FlagNames, flags: object): { [name: string]: JsonValue } {
  const values = flags as Readonly<Record<string, boolean>>;
  return Object.fromEntries(Object.entries(names).map(([name, own]) => [name, values[own] === true]));
}

function readFlags<T>(fields: Fields, names: FlagNames): T {
  return Object.fromEntries(Object.entries(names).map(([name, own]) => [own, fields.flag(name, false)])) as T;
}

function mapJson<T>(map: ReadonlyMap<number, T>, json: (value: T) => JsonValue): JsonValue {
  if (map.size === 0) return null;
  return Object.fromEntries([...map].map(([id, value]) => [String(id), json(value)]));
}

function readMap<T>(fields: Fields, name: string, read: (inner: Fields) => T): ReadonlyMap<number, T> {
  if (!fields.has(name)) return new Map();
  const object = fields.object(name);
  return new Map(
    object.entries().map(([key]) => {
      const id = Number(key);
      if (!/^\d+$/.test(key) || id > 0xffff_ffff) object.fail(key, "An id is needed as key here.");
      return [id, read(object.object(key))] as const;
    }),
  );
}
