import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  decodeCreateUser,
  decodeUpdatePermissions,
  decodeUpdateUser,
  encodeCreatePersonalAccessTokenReply,
  encodeGetPersonalAccessTokensReply,
} from "@millrace/protocol";
import { FakeServer } from "../testing/fake-server.test.ts";
import { permissionsOf, userPermissionsOf } from "./permission-shapes.ts";

const EMPTY = new Uint8Array(0);
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

test("permissions that are left out are not given, and ids of records become numbers", () => {
  const permissions = permissionsOf({
    global: { readStreams: true },
    streams: { 3: { readTopics: true, topics: { 4: { sendMessages: true } } }, 9: {} },
  });
  assert.deepEqual([permissions.global.readStreams, permissions.global.manageServers], [true, false]);
  assert.deepEqual([...permissions.streams.keys()], [3, 9]);
  assert.deepEqual(permissions.streams.get(3)?.topics.get(4), {
    manageTopic: false,
    readTopic: false,
    pollMessages: false,
    sendMessages: true,
  });
  assert.equal(permissions.streams.get(9)?.topics.size, 0);
  assert.deepEqual(permissionsOf(userPermissionsOf(permissions)), permissions);
});

test("user commands are written as asked", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  await client.createUser({ username: "ann", password: "pwd" }).catch(() => {});
  const created = decodeCreateUser(server.received("CreateUser")[0]?.body ?? EMPTY);
  assert.deepEqual(created, {
    username: "ann",
    password: "pwd",
    status: "active",
    permissions: undefined,
    options: [],
  });
  await client.updateUser("ann", { status: "inactive" });
  const updated = decodeUpdateUser(server.received("UpdateUser")[0]?.body ?? EMPTY);
  assert.deepEqual([updated.username, updated.status], [undefined, "inactive"]);
  await client.updatePermissions(7, undefined);
  await client.updatePermissions(7, {});
  const [none, empty] = server.received("UpdatePermissions").map(({ body }) => decodeUpdatePermissions(body));
  assert.deepEqual([none?.user, none?.permissions], [{ kind: "numeric", id: 7 }, undefined]);
  assert.equal(empty?.permissions?.streams.size, 0);
  await client.close();
});

test("names, passwords and names of tokens outside their bounds are not sent, and not repeated", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  const passwords = { currentPassword: "x", newPassword: "no" };
  await assert.rejects(
    client.createUser({ username: "ab", password: "pwd" }),
    hasCode(ErrorCode.InvalidUsername),
  );
  await assert.rejects(
    client.updateUser(1, { username: "ü".repeat(26) }),
    hasCode(ErrorCode.InvalidUsername),
  );
  const long = "secret".repeat(17);
  await assert.rejects(client.createUser({ username: "ann", password: long }), (error: Error) => {
    assert.ok(hasCode(ErrorCode.InvalidPassword)(error));
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  await assert.rejects(client.changePassword(1, passwords), hasCode(ErrorCode.InvalidPassword));
  for (const name of ["ci", "n".repeat(31)]) {
    const call = client.createPersonalAccessToken(name);
    await assert.rejects(call, hasCode(ErrorCode.InvalidPersonalAccessTokenName));
  }
  assert.deepEqual(
    server.requests.map(({ command }) => command),
    ["LoginRegister", "GetClusterMetadata"],
  );
  await client.close();
});

test("a token comes back once, tokens are listed with their end", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command === "CreatePersonalAccessToken") {
      request.succeed(encodeCreatePersonalAccessTokenReply("the-token"));
    } else if (request.command === "GetPersonalAccessTokens") {
      const tokens = [
        { name: "never", expiryAt: 0n },
        { name: "some day", expiryAt: 2n ** 63n },
      ];
      request.succeed(encodeGetPersonalAccessTokensReply(tokens));
    } else return false;
    return true;
  };
  const client = await server.connect();
  assert.equal(await client.createPersonalAccessToken("ci-token", { expiry: 5n }), "the-token");
  assert.deepEqual(await client.getPersonalAccessTokens(), [
    { name: "never", expiresAt: undefined },
    { name: "some day", expiresAt: 2n ** 63n },
  ]);
  await client.close();
});
