import type { GlobalPermissions, StreamPermissions, TopicPermissions } from "@millrace/protocol";

/** Grants of which any one suffices, at each level. */
export interface Grants {
  readonly global: readonly (keyof GlobalPermissions)[];
  readonly stream?: readonly (keyof Omit<StreamPermissions, "topics">)[];
  readonly topic?: readonly (keyof TopicPermissions)[];
}

const LIST_TOPICS = {
  global: ["manageStreams", "readStreams", "manageTopics", "readTopics"],
  stream: ["manageStream", "readStream", "manageTopics", "readTopics"],
} as const satisfies Grants;

/**
 * Which grants let a user do what. What needs a login only (own password, own tokens, get me, describe options,
 * cluster metadata, sync group) has no row.
 *
 * - `read-server`: stats, clients, snapshot
 * - `manage-users`: create, update, delete, permissions, another user's password
 * - `manage-stream`, `manage-topic`: update, delete, purge; for a topic also its partitions and segments
 * - `read-topic`: get topic and every consumer-group command
 * - `poll`: poll, and get, store and delete consumer offsets
 * @see server-semantics, section 11
 */
export const GRANTS = {
  "read-server": { global: ["manageServers", "readServers"] },
  "manage-users": { global: ["manageUsers"] },
  "read-users": { global: ["manageUsers", "readUsers"] },
  "create-stream": { global: ["manageStreams"] },
  "list-streams": { global: ["manageStreams", "readStreams"] },
  "read-stream": { global: ["manageStreams", "readStreams"], stream: ["manageStream", "readStream"] },
  "manage-stream": { global: ["manageStreams"], stream: ["manageStream"] },
  "create-topic": { global: ["manageStreams", "manageTopics"], stream: ["manageStream", "manageTopics"] },
  "list-topics": LIST_TOPICS,
  "read-topic": { ...LIST_TOPICS, topic: ["manageTopic", "readTopic"] },
  "manage-topic": {
    global: ["manageStreams", "manageTopics"],
    stream: ["manageStream", "manageTopics"],
    topic: ["manageTopic"],
  },
  poll: {
    global: ["pollMessages", "manageStreams", "readStreams", "manageTopics", "readTopics"],
    stream: ["pollMessages", "manageStream", "readStream", "manageTopics", "readTopics"],
    topic: ["pollMessages", "manageTopic", "readTopic"],
  },
  send: {
    global: ["sendMessages", "manageStreams", "manageTopics"],
    stream: ["sendMessages", "manageStream", "manageTopics"],
    topic: ["sendMessages", "manageTopic"],
  },
} as const satisfies Record<string, Grants>;
