import type { NewPermissions } from "@millrace/client";
import { InvalidArgumentError } from "commander";
import { U32_MAX } from "./whole-number.ts";

/** Rights of one level: long word, short word, and the property of the client. */
type Words = readonly (readonly [long: string, short: string, property: string])[];

/** Rights on everything. */
export const GLOBAL_WORDS = [
  ["manage_servers", "m_srv", "manageServers"],
  ["read_servers", "r_srv", "readServers"],
  ["manage_users", "m_usr", "manageUsers"],
  ["read_users", "r_usr", "readUsers"],
  ["manage_streams", "m_str", "manageStreams"],
  ["read_streams", "r_str", "readStreams"],
  ["manage_topics", "m_top", "manageTopics"],
  ["read_topics", "r_top", "readTopics"],
  ["poll_messages", "p_msg", "pollMessages"],
  ["send_messages", "s_msg", "sendMessages"],
] as const satisfies Words;

/** Rights on one stream. */
export const STREAM_WORDS = [
  ["manage_stream", "m_str", "manageStream"],
  ["read_stream", "r_str", "readStream"],
  ["manage_topics", "m_top", "manageTopics"],
  ["read_topics", "r_top", "readTopics"],
  ["poll_messages", "p_msg", "pollMessages"],
  ["send_messages", "s_msg", "sendMessages"],
] as const satisfies Words;

/** Rights on one topic. */
export const TOPIC_WORDS = [
  ["manage_topic", "m_top", "manageTopic"],
  ["read_topic", "r_top", "readTopic"],
  ["poll_messages", "p_msg", "pollMessages"],
  ["send_messages", "s_msg", "sendMessages"],
] as const satisfies Words;

type Rights = Readonly<Record<string, boolean>>;
type StreamEntry = NonNullable<NewPermissions["streams"]>[number];

/** What `--stream-permissions` says about one stream. */
export interface StreamPermissionsTyped {
  readonly streamId: number;
  readonly rights: StreamEntry;
}

/**
 * Rights on everything: `manage_streams,r_top,...`, long or short words.
 * @throws InvalidArgumentError that names every unknown word
 */
export function parseGlobalPermissions(text: string): NonNullable<NewPermissions["global"]> {
  return rightsOf(text, GLOBAL_WORDS);
}

/**
 * Rights on one stream and on topics of it: `STREAM_ID[:right,...][#TOPIC_ID[:right,...]]...`; repeatable.
 * @throws InvalidArgumentError for what has another form, unknown words, and a stream or topic named twice
 */
export function collectStreamPermissions(
  text: string,
  before: readonly StreamPermissionsTyped[] = [],
): readonly StreamPermissionsTyped[] {
  const [stream = "", ...topicTexts] = text.split("#");
  const [streamId, rights] = idAndRights(stream, STREAM_WORDS, "stream");
  if (before.some((one) => one.streamId === streamId)) throw twice("stream", streamId);
  const topics: Record<number, Rights> = {};
  for (const topicText of topicTexts) {
    const [topicId, topicRights] = idAndRights(topicText, TOPIC_WORDS, "topic");
    if (topicId in topics) throw twice("topic", topicId);
    topics[topicId] = topicRights;
  }
  return [...before, { streamId, rights: { ...rights, topics } }];
}

/** The permissions to send; nothing when neither option was typed. */
export function permissionsTyped(typed: {
  readonly globalPermissions?: NonNullable<NewPermissions["global"]>;
  readonly streamPermissions?: readonly StreamPermissionsTyped[];
}): NewPermissions | undefined {
  const { globalPermissions: global, streamPermissions } = typed;
  if (global === undefined && streamPermissions === undefined) return undefined;
  const streams = Object.fromEntries(
    (streamPermissions ?? []).map(({ streamId, rights }) => [streamId, rights]),
  );
  return { ...(global === undefined ? {} : { global }), streams };
}

function idAndRights(text: string, words: Words, what: string): readonly [number, Rights] {
  const [, digits, rights] = /^(\d+)(?::(.*))?$/.exec(text) ?? [];
  const id = Number(digits);
  if (digits === undefined || id > U32_MAX) {
    throw new InvalidArgumentError(
      `"${text}" does not begin with the id of a ${what}; write STREAM_ID:right,right#TOPIC_ID:right.`,
    );
  }
  return [id, rights === undefined ? {} : rightsOf(rights, words)];
}

function rightsOf(text: string, words: Words): Rights {
  const typed = text.split(",").map((word) => word.trim());
  const rows = typed.map((word) => words.find(([long, short]) => word === long || word === short));
  const unknown = typed.filter((_, index) => rows[index] === undefined);
  if (unknown.length > 0) {
    const known = words.map(([long, short]) => `${long} (${short})`).join(", ");
    throw new InvalidArgumentError(
      `Unknown: ${unknown.map((word) => `"${word}"`).join(", ")}. Known: ${known}.`,
    );
  }
  return Object.fromEntries(rows.map((row) => [row?.[2] ?? "", true]));
}

function twice(what: string, id: number): InvalidArgumentError {
  return new InvalidArgumentError(`The ${what} ${id} is named twice.`);
}
