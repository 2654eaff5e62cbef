import assert from "node:assert/strict";
import { test } from "node:test";
import type { GlobalPermissions, StreamPermissions, TopicPermissions } from "@millrace/protocol";
import type { User } from "../catalog/user.ts";
import { GRANTS, type Grants } from "./grants.table.ts";
import { type Action, may } from "./may.ts";

const GLOBAL: GlobalPermissions = {
  manageServers: false,
  readServers: false,
  manageUsers: false,
  readUsers: false,
  manageStreams: false,
  readStreams: false,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};
const STREAM: Omit<StreamPermissions, "topics"> = {
  manageStream: false,
  readStream: false,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};
const TOPIC: TopicPermissions = {
  manageTopic: false,
  readTopic: false,
  pollMessages: false,
  sendMessages: false,
};
const ACTIONS = Object.keys(GRANTS) as Action[];
const HERE = { stream: 1, topic: 2 };

function userWith(grants: {
  readonly global?: Partial<GlobalPermissions>;
  readonly stream?: Partial<typeof STREAM>;
  readonly topic?: Partial<TopicPermissions>;
}): User {
  const topics = new Map([[2, { ...TOPIC, ...grants.topic }]]);
  const streams = new Map([[1, { ...STREAM, ...grants.stream, topics }]]);
  const permissions = { global: { ...GLOBAL, ...grants.global }, streams };
  return {
    id: 5,
    name: "alice",
    status: 1,
    passwordHash: "",
    createdAt: 0,
    revision: 1,
    tokens: [],
    permissions,
  };
}

const allowed = (user: User | undefined, scope = HERE) =>
  ACTIONS.filter((action) => may(user, action, scope));

test("root may do everything, nobody and a user without permissions nothing", () => {
  const root = { ...userWith({}), id: 0, permissions: undefined };
  assert.deepEqual(allowed(root), ACTIONS);
  assert.deepEqual(allowed(undefined), []);
  assert.deepEqual(allowed({ ...userWith({}), permissions: undefined }), []);
  assert.deepEqual(allowed(userWith({})), []);
});

test("each global grant allows exactly what the specification lists", () => {
  const table: Readonly<Record<keyof GlobalPermissions, readonly Action[]>> = {
    manageServers: ["read-server"],
    readServers: ["read-server"],
    manageUsers: ["manage-users", "read-users"],
    readUsers: ["read-users"],
    manageStreams: ACTIONS.filter(
      (action) => !["read-server", "manage-users", "read-users"].includes(action),
    ),
    readStreams: ["list-streams", "read-stream", "list-topics", "read-topic", "poll"],
    manageTopics: ["create-topic", "list-topics", "read-topic", "manage-topic", "poll", "send"],
    readTopics: ["list-topics", "read-topic", "poll"],
    pollMessages: ["poll"],
    sendMessages: ["send"],
  };
  for (const [flag, actions] of Object.entries(table)) {
    assert.deepEqual(allowed(userWith({ global: { [flag]: true } })), actions, flag);
  }
});

test("each grant on a stream allows exactly what the specification lists, on that stream only", () => {
  const table: Readonly<Record<keyof typeof STREAM, readonly Action[]>> = {
    manageStream: [
      "read-stream",
      "manage-stream",
      "create-topic",
      "list-topics",
      "read-topic",
      "manage-topic",
      "poll",
      "send",
    ],
    readStream: ["read-stream", "list-topics", "read-topic", "poll"],
    manageTopics: ["create-topic", "list-topics", "read-topic", "manage-topic", "poll", "send"],
    readTopics: ["list-topics", "read-topic", "poll"],
    pollMessages: ["poll"],
    sendMessages: ["send"],
  };
  for (const [flag, actions] of Object.entries(table)) {
    const user = userWith({ stream: { [flag]: true } });
    assert.deepEqual(allowed(user), actions, flag);
    assert.deepEqual(allowed(user, { stream: 2, topic: 2 }), [], flag);
  }
});

test("each grant on a topic allows exactly what the specification lists, on that topic only", () => {
  const table: Readonly<Record<keyof TopicPermissions, readonly Action[]>> = {
    manageTopic: ["read-topic", "manage-topic", "poll", "send"],
    readTopic: ["read-topic", "poll"],
    pollMessages: ["poll"],
    sendMessages: ["send"],
  };
  for (const [flag, actions] of Object.entries(table)) {
    const user = userWith({ topic: { [flag]: true } });
    assert.deepEqual(allowed(user), actions, flag);
    assert.deepEqual(allowed(user, { stream: 1, topic: 3 }), [], flag);
    assert.deepEqual(
      ACTIONS.filter((action) => may(user, action)),
      [],
      flag,
    );
  }
});

test("to read never means to send", () => {
  const { global, stream, topic }: Grants = GRANTS.send;
  const names = [global, stream ?? [], topic ?? []].flat();
  assert.ok(names.length > 0 && !names.some((name) => name.startsWith("read")));
});
