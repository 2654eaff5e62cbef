import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CommandName,
  encodeChangePassword,
  encodeCreateConsumerGroup,
  encodeCreatePersonalAccessToken,
  encodeCreateUser,
  encodeDeleteConsumerGroup,
  encodeDeletePersonalAccessToken,
  encodeDeleteUser,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
  encodeUpdatePermissions,
  encodeUpdateUser,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { HttpUnderTest } from "../testing/http-under-test.ts";
import { RawClient } from "../testing/raw-client.ts";

const user = toIdentifier(4_000_000);
const stream = toIdentifier("none");
const topic = toIdentifier("none");
const group = toIdentifier("none");
const flagsOff = {
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
const permissions = { global: flagsOff, streams: new Map() };
const T = "/streams/none/topics/none";

/** Requests of both kinds that mean the same, about things that are not there. */
const PAIRS: readonly (readonly [CommandName, Uint8Array, method: string, path: string, body?: object])[] = [
  ["GetConsumerGroups", encodeGetConsumerGroups({ stream, topic }), "GET", `${T}/consumer-groups`],
  ["GetConsumerGroup", encodeGetConsumerGroup({ stream, topic, group }), "GET", `${T}/consumer-groups/none`],
  [
    "CreateConsumerGroup",
    encodeCreateConsumerGroup({ stream, topic, name: "g" }),
    "POST",
    `${T}/consumer-groups`,
    { name: "g" },
  ],
  [
    "DeleteConsumerGroup",
    encodeDeleteConsumerGroup({ stream, topic, group }),
    "DELETE",
    `${T}/consumer-groups/none`,
  ],
  ["DeleteUser", encodeDeleteUser({ user }), "DELETE", "/users/4000000"],
  [
    "UpdateUser",
    encodeUpdateUser({ user, username: "other", status: "inactive", options: NO_OPTIONS }),
    "PUT",
    "/users/4000000",
    { username: "other", status: "inactive" },
  ],
  [
    "UpdatePermissions",
    encodeUpdatePermissions({ user, permissions }),
    "PUT",
    "/users/4000000/permissions",
    { permissions: { global: {}, streams: null } },
  ],
  [
    "ChangePassword",
    encodeChangePassword({ user, currentPassword: "abc", newPassword: "abcd" }),
    "PUT",
    "/users/4000000/password",
    { current_password: "abc", new_password: "abcd" },
  ],
  [
    "DeletePersonalAccessToken",
    encodeDeletePersonalAccessToken({ name: "none" }),
    "DELETE",
    "/personal-access-tokens/none",
  ],
  [
    "CreatePersonalAccessToken",
    encodeCreatePersonalAccessToken({ name: "by-tcp", expiryMicros: 0n }),
    "POST",
    "/personal-access-tokens",
    { name: "by-http", expiry: 0 },
  ],
  [
    "CreateUser",
    encodeCreateUser({ username: "ab", password: "abc", status: "active", permissions, options: NO_OPTIONS }),
    "POST",
    "/users",
    { username: "ab", password: "abc", status: "active", permissions: { global: {}, streams: null } },
  ],
];

test("A route answers what its binary command answers, whatever the server makes of it.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  const client = new RawClient(server.tcp.port);
  await client.login("iggy", "iggy");
  for (const [command, bytes, method, path, body] of PAIRS) {
    const { code } = await client.command(command, bytes);
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    if (code === 0)
      assert.ok(answer.status < 300 || answer.json.code === "not_found", `${command} ${answer.text}`);
    else assert.equal(answer.json?.id, code, `${command} ${answer.text}`);
  }
  client.close();
  await server.stop();
});

test("Permissions and users of the wrong shape are refused by field.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  const cases = [
    ["POST", "/users", { username: "abc" }, "password"],
    ["POST", "/users", { username: "abc", password: "abc", status: "asleep" }, "status"],
    ["POST", "/users", { username: "abc", password: "abc", permissions: {} }, "permissions.global"],
    [
      "PUT",
      "/users/1/permissions",
      { permissions: { global: { read_users: 1 } } },
      "permissions.global.read_users",
    ],
    [
      "PUT",
      "/users/1/permissions",
      { permissions: { global: {}, streams: { x: {} } } },
      "permissions.streams.x",
    ],
    [
      "PUT",
      "/users/1/permissions",
      { permissions: { global: {}, streams: { 1: { topics: { 2: { poll_messages: "often" } } } } } },
      "permissions.streams.1.topics.2.poll_messages",
    ],
    ["PUT", "/users/1/password", { current_password: "abc" }, "new_password"],
    ["POST", "/personal-access-tokens", { name: "abc", expiry: "never" }, "expiry"],
    ["POST", "/snapshot", { compression: "Best" }, "compression"],
    ["POST", "/snapshot", { snapshot_types: ["Everything"] }, "snapshot_types"],
  ] as const;
  for (const [method, path, body, field] of cases) {
    const answer = await server.call(method, path, { body });
    assert.deepEqual([answer.status, answer.json.id, answer.json.field], [422, 3, field], answer.text);
  }
  await server.stop();
});
