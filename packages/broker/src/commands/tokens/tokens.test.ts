import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeGetPersonalAccessTokensReply,
  decodeLoginReply,
  EvictionReason,
  encodeCreatePersonalAccessToken,
  encodeDeletePersonalAccessToken,
  encodeDeleteUser,
  encodeUpdateUser,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import type { TestClient } from "../../testing/test-client.ts";
import { TestServer } from "../../testing/test-server.ts";
import { createToken, createUser, loginWithToken, PASSWORD } from "../../testing/test-users.ts";

async function tokensOf(client: TestClient) {
  return decodeGetPersonalAccessTokensReply(await client.ok("GetPersonalAccessTokens"));
}

function tokenBody(name: string, expiryMicros = 0n) {
  return encodeCreatePersonalAccessToken({ name, expiryMicros });
}

test("A token is 50 random bytes in base64, logs in as its owner, and is listed without its text.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  const token = await createToken(alice, "ci");
  assert.match(token, /^[A-Za-z0-9+/]{67}=$/);
  assert.notEqual(await createToken(alice, "other"), token);
  const other = server.connect();
  const answer = await loginWithToken(other, token, 6n);
  assert.equal(decodeLoginReply(answer.payload).userId, 1);
  assert.deepEqual(
    (await tokensOf(other)).map(({ name, expiryAt }) => [name, expiryAt]),
    [
      ["ci", 0n],
      ["other", 0n],
    ],
  );
  assert.deepEqual(await tokensOf(root), []);
  await server.stop();
});

test("A repeated creation is refused with 59 and tells no token, before and after a restart.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createToken(root, "ci");
  const repeated = { request: root.nextNumber - 1n };
  const again = await root.command("CreatePersonalAccessToken", tokenBody("ci"), repeated);
  assert.deepEqual([again.code, again.payload.length], [ErrorCode.RequestAlreadyApplied, 0]);
  const restarted = await TestServer.start({ disk: server.kill() });
  const after = await restarted.login();
  const late = await after.command("CreatePersonalAccessToken", tokenBody("ci"), {
    request: repeated.request,
  });
  assert.deepEqual([late.code, late.payload.length], [ErrorCode.RequestAlreadyApplied, 0]);
  await restarted.stop();
});

test("The limit of tokens is told before a taken name; the last one repeated is still told as applied.", async () => {
  const server = await TestServer.start({ config: { tokensPerUserMax: 2 } });
  const root = await server.login();
  await createToken(root, "one");
  const taken = await root.command("CreatePersonalAccessToken", tokenBody("one"));
  assert.equal(taken.code, ErrorCode.PersonalAccessTokenAlreadyExists);
  await createToken(root, "two");
  const repeated = { request: root.nextNumber - 1n };
  for (const name of ["one", "three"]) {
    const { code } = await root.command("CreatePersonalAccessToken", tokenBody(name));
    assert.equal(code, ErrorCode.PersonalAccessTokensLimitReached);
  }
  const again = await root.command("CreatePersonalAccessToken", tokenBody("two"), repeated);
  assert.equal(again.code, ErrorCode.RequestAlreadyApplied);
  await root.ok("DeletePersonalAccessToken", encodeDeletePersonalAccessToken({ name: "one" }));
  await createToken(root, "three");
  await server.stop();
});

test("By default a user holds 100 tokens.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  for (let index = 0; index < 100; index += 1) await createToken(root, `token-${index}`);
  const { code } = await root.command("CreatePersonalAccessToken", tokenBody("token-100"));
  assert.equal(code, ErrorCode.PersonalAccessTokensLimitReached);
  await server.stop();
});

test("A token that is expired, deleted or nobody's ends in eviction 10, an inactive user's in 11.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  const short = await createToken(alice, "short", 1_000_000n);
  const long = await createToken(alice, "long");
  const deleted = await createToken(alice, "deleted");
  await alice.ok("DeletePersonalAccessToken", encodeDeletePersonalAccessToken({ name: "deleted" }));
  const reasonOf = async (token: string) =>
    (await loginWithToken(server.connect(), token, 90n)).eviction?.reason;
  assert.equal(await reasonOf(short), undefined);
  await server.platform.clock.run(1001);
  for (const token of [short, deleted, "nobody's", ""]) {
    assert.equal(await reasonOf(token), EvictionReason.InvalidToken, token);
  }
  assert.equal(await reasonOf(long), undefined);
  const update = { user: toIdentifier("alice"), username: undefined, options: NO_OPTIONS } as const;
  await root.ok("UpdateUser", encodeUpdateUser({ ...update, status: "inactive" }));
  assert.equal(await reasonOf(long), EvictionReason.UserInactive);
  await root.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier("alice") }));
  assert.equal(await reasonOf(long), EvictionReason.InvalidToken);
  await server.stop();
});

test("The cleaner deletes what is expired, 256 tokens in a pass, and it stays deleted.", async () => {
  const config = { tokensPerUserMax: 400, tokenCleaner: { isEnabled: true, intervalMs: 1000 } };
  const server = await TestServer.start({ config });
  const root = await server.login();
  for (let index = 0; index < 300; index += 1) await createToken(root, `short-${index}`, 500_000n);
  await createToken(root, "long", 3_600_000_000n);
  await server.platform.clock.run(1100);
  assert.equal((await tokensOf(root)).length, 45);
  await server.platform.clock.run(1000);
  assert.deepEqual(
    (await tokensOf(root)).map(({ name }) => name),
    ["long"],
  );
  const restarted = await TestServer.start({ disk: server.kill(), config });
  assert.equal((await tokensOf(await restarted.login())).length, 1);
  await restarted.stop();
});

test("Without the cleaner an expired token stays listed and is refused all the same.", async () => {
  const config = { tokenCleaner: { isEnabled: false, intervalMs: 1000 } };
  const server = await TestServer.start({ config });
  const root = await server.login();
  const token = await createToken(root, "short", 1000n);
  await server.platform.clock.run(10_000);
  assert.equal((await tokensOf(root)).length, 1);
  const { eviction } = await loginWithToken(server.connect(), token, 9n);
  assert.equal(eviction?.reason, EvictionReason.InvalidToken);
  await server.stop();
});

test("A session that began with a token outlives it.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const other = server.connect();
  await loginWithToken(other, await createToken(root, "ci"), 6n);
  await root.ok("DeletePersonalAccessToken", encodeDeletePersonalAccessToken({ name: "ci" }));
  await other.ok("GetStreams");
  const { code } = await other.command(
    "DeletePersonalAccessToken",
    encodeDeletePersonalAccessToken({ name: "ci" }),
  );
  assert.equal(code, ErrorCode.ResourceNotFound);
  await server.stop();
});
