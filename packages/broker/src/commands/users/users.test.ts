import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import {
  decodeCreateUserReply,
  decodeGetUserReply,
  decodeGetUsersReply,
  EvictionReason,
  encodeChangePassword,
  encodeCreateUser,
  encodeDeleteUser,
  encodeGetUser,
  encodeUpdatePermissions,
  encodeUpdateUser,
  NO_OPTIONS,
  type Permissions,
  toIdentifier,
} from "@millrace/protocol";
import { oneRight } from "../../testing/rights-fixture.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { TestServer } from "../../testing/test-server.ts";
import { createUser, PASSWORD } from "../../testing/test-users.ts";

function changePassword(client: TestClient, user: string, currentPassword: string, newPassword: string) {
  const body = encodeChangePassword({ user: toIdentifier(user), currentPassword, newPassword });
  return client.command("ChangePassword", body);
}

async function reasonOfLogin(server: TestServer, username: string, password: string) {
  return (await server.connect().login({ client: 50n, username, password })).eviction?.reason;
}

test("A created user is answered, found by id and name, listed, and can log in.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const permissions = oneRight("topic", "poll_messages");
  const answer = await createUser(root, "alice", { permissions });
  const alice = decodeCreateUserReply(answer.payload);
  assert.deepEqual(
    [alice.id, alice.username, alice.status, alice.permissions],
    [1, "alice", "active", permissions],
  );
  for (const user of [1, "alice"]) {
    const payload = await root.ok("GetUser", encodeGetUser({ user: toIdentifier(user) }));
    assert.deepEqual(decodeGetUserReply(payload), alice);
  }
  const users = decodeGetUsersReply(await root.ok("GetUsers"));
  assert.deepEqual(
    users.map(({ id, username }) => [id, username]),
    [
      [0, "iggy"],
      [1, "alice"],
    ],
  );
  assert.equal((await root.ok("GetUser", encodeGetUser({ user: toIdentifier("nobody") }))).length, 0);
  assert.equal((await server.connect().login({ client: 5n, username: "alice", password: PASSWORD })).code, 0);
  await server.stop();
});

test("Bad names, taken names and options are refused with their codes.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const option = { key: "any", value: typedField("string", "x") };
  const withOption = {
    username: "carol",
    password: PASSWORD,
    status: "active",
    permissions: undefined,
  } as const;
  const codes = [
    (await createUser(root, "ab")).code,
    (await createUser(root, "a".repeat(51))).code,
    (await createUser(root, "iggy")).code,
    (await root.command("CreateUser", encodeCreateUser({ ...withOption, options: [option] }))).code,
    (await root.command("CreateUser", Uint8Array.of(3, 1))).code,
  ];
  assert.deepEqual(codes, [
    ErrorCode.InvalidUsername,
    ErrorCode.InvalidUsername,
    ErrorCode.UserAlreadyExists,
    ErrorCode.UnsupportedOptionKey,
    ErrorCode.InvalidCommand,
  ]);
  await server.stop();
});

test("A repeated CreateUser gets the stored reply, whoever holds the name meanwhile.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const first = await createUser(root, "alice");
  const body = encodeCreateUser({
    username: "alice",
    password: PASSWORD,
    status: "active",
    permissions: undefined,
    options: NO_OPTIONS,
  });
  const repeated = await root.command("CreateUser", body, { request: first.header.request });
  assert.deepEqual(repeated.payload, first.payload);
  assert.equal(repeated.header.op, first.header.op);
  await server.stop();
});

test("An inactive user logs in like one with a wrong password; a session he has ends at once.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  await createUser(root, "idle", { status: "inactive" });
  assert.equal(await reasonOfLogin(server, "idle", PASSWORD), EvictionReason.InvalidCredentials);
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  const update = { user: toIdentifier("alice"), username: undefined, options: NO_OPTIONS } as const;
  await root.ok("UpdateUser", encodeUpdateUser({ ...update, status: "inactive" }));
  await server.platform.clock.run(10);
  assert.equal(alice.unexpected[0]?.eviction?.reason, EvictionReason.UserInactive);
  assert.equal(alice.isClosed, true);
  assert.equal(await reasonOfLogin(server, "alice", PASSWORD), EvictionReason.InvalidCredentials);
  await root.ok("UpdateUser", encodeUpdateUser({ ...update, status: "active" }));
  assert.equal(await reasonOfLogin(server, "alice", PASSWORD), undefined);
  await server.stop();
});

test("A deleted user's sessions end, all of them, also those without a connection; his deleter's goes on.", async () => {
  const before = await TestServer.start();
  await createUser(await before.login(), "alice");
  await before.connect().login({ client: 7n, username: "alice", password: PASSWORD });
  const server = await TestServer.start({ disk: before.kill() });
  const root = await server.login(2n);
  const alice = server.connect();
  await alice.login({ client: 8n, username: "alice", password: PASSWORD });
  const { clientTable } = server.broker.shard.metadata;
  assert.deepEqual(
    clientTable.sessions().map(({ client }) => client),
    [1n, 2n, 7n, 8n],
  );
  await root.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier("alice") }));
  await server.platform.clock.run(10);
  assert.equal(alice.unexpected[0]?.eviction?.reason, EvictionReason.NoSession);
  assert.deepEqual(
    clientTable.sessions().map(({ client }) => client),
    [1n, 2n],
  );
  await root.ok("GetStreams");
  assert.equal(await reasonOfLogin(server, "alice", PASSWORD), EvictionReason.InvalidCredentials);
  await server.stop();
});

test("Who deletes himself hears that it worked, then that it is over.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "boss", { permissions: oneRight("global", "manage_users") });
  const boss = server.connect();
  await boss.login({ client: 5n, username: "boss", password: PASSWORD });
  await boss.ok("DeleteUser", encodeDeleteUser({ user: toIdentifier("boss") }));
  await server.platform.clock.run(10);
  assert.deepEqual([boss.unexpected[0]?.eviction?.reason, boss.isClosed], [EvictionReason.NoSession, true]);
  await server.stop();
});

test("A login whose user is deleted while it is agreed on ends in an eviction, not in a session.", async () => {
  const server = await TestServer.start({ diskLatencyMaxMs: 5 });
  const root = await server.login();
  await server.drive(createUser(root, "alice"));
  const deletion = root.command("DeleteUser", encodeDeleteUser({ user: toIdentifier("alice") }));
  const login = server.connect().login({ client: 5n, username: "alice", password: PASSWORD });
  await server.drive(deletion);
  const { eviction } = await server.drive(login);
  assert.equal(eviction?.reason, EvictionReason.NoSession);
  await server.platform.clock.run(100);
  assert.equal(server.broker.shard.metadata.clientTable.session(5n), undefined);
  await server.stop();
});

test("Permissions count from the next request on, given or taken.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  const give = (permissions: Permissions | undefined) =>
    root.ok("UpdatePermissions", encodeUpdatePermissions({ user: toIdentifier("alice"), permissions }));
  const listing = async () => (await alice.command("GetStreams")).code;
  assert.equal(await listing(), ErrorCode.Unauthorized);
  await give(oneRight("global", "read_streams"));
  assert.equal(await listing(), 0);
  await give(undefined);
  assert.equal(await listing(), ErrorCode.Unauthorized);
  await server.stop();
});

test("Root cannot be deleted, restricted or made inactive; what is missing is 20.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const nobody = toIdentifier("nobody");
  const iggy = toIdentifier(0);
  const update = { username: undefined, options: NO_OPTIONS };
  const codes = [
    await root.command("DeleteUser", encodeDeleteUser({ user: iggy })),
    await root.command("UpdatePermissions", encodeUpdatePermissions({ user: iggy, permissions: undefined })),
    await root.command("UpdateUser", encodeUpdateUser({ ...update, user: iggy, status: "inactive" })),
    await root.command("DeleteUser", encodeDeleteUser({ user: nobody })),
    await root.command(
      "UpdatePermissions",
      encodeUpdatePermissions({ user: nobody, permissions: undefined }),
    ),
    await root.command("UpdateUser", encodeUpdateUser({ ...update, user: nobody, status: "active" })),
    await changePassword(root, "nobody", "iggy", "iggy2"),
  ].map(({ code }) => code);
  assert.deepEqual(codes, [48, 49, 49, 20, 20, 20, 20]);
  await server.stop();
});

test("A password changes for who knows the current one; the old one is refused then.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  assert.equal((await changePassword(alice, "alice", "wrong", "other")).code, ErrorCode.InvalidCredentials);
  assert.equal((await changePassword(root, "alice", "wrong", "other")).code, ErrorCode.InvalidCredentials);
  assert.equal((await changePassword(alice, "iggy", "iggy", "other")).code, ErrorCode.Unauthorized);
  assert.equal((await changePassword(alice, "alice", PASSWORD, "other")).code, 0);
  assert.equal(await reasonOfLogin(server, "alice", PASSWORD), EvictionReason.InvalidCredentials);
  assert.equal(await reasonOfLogin(server, "alice", "other"), undefined);
  await server.stop();
});

test("Who may not manage users makes the server hash nothing.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const alice = server.connect();
  await alice.login({ client: 5n, username: "alice", password: PASSWORD });
  let hashes = 0;
  const { passwordChecks } = server.broker.shard;
  const hash = passwordChecks.hash.bind(passwordChecks);
  passwordChecks.hash = (wish) => {
    hashes += 1;
    hash(wish);
  };
  assert.equal((await createUser(alice, "bob")).code, ErrorCode.Unauthorized);
  assert.equal(hashes, 0);
  assert.equal((await createUser(root, "bob")).code, 0);
  assert.equal(hashes, 1);
  await server.stop();
});

test("A password that cannot be hashed now refuses the request and leaves the server well.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const { passwords } = server.platform;
  const { hash } = passwords;
  passwords.hash = () => Promise.reject(new Error("no memory"));
  assert.equal((await createUser(root, "alice")).code, ErrorCode.TransientNotAccepted);
  passwords.hash = hash;
  assert.equal((await createUser(root, "alice")).code, 0);
  await server.stop();
});

test("A login costs one check of a password, be it wrong, of nobody or of an inactive user.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  await createUser(root, "idle", { status: "inactive" });
  const { passwords } = server.platform;
  const { verify } = passwords;
  const checked: string[] = [];
  passwords.verify = (password, stored) => {
    checked.push(stored);
    return verify(password, stored);
  };
  for (const [username, password] of [
    ["alice", "wrong"],
    ["nobody", PASSWORD],
    ["idle", PASSWORD],
  ] as const) {
    assert.equal(await reasonOfLogin(server, username, password), EvictionReason.InvalidCredentials);
  }
  assert.equal(checked.length, 3);
  assert.equal(
    checked[1],
    checked[2],
    "an inactive user is checked against the hash that stands in for nobody's",
  );
  assert.notEqual(checked[0], checked[1]);
  await server.stop();
});

test("While too many passwords wait, users and passwords are refused with 58, and the server goes on.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  await createUser(root, "alice");
  const { passwordChecks } = server.broker.shard;
  const { hash, check } = passwordChecks;
  passwordChecks.hash = ({ hashed }) => hashed(undefined);
  passwordChecks.check = ({ decided }) => decided("busy");
  assert.equal((await createUser(root, "bob")).code, ErrorCode.TransientNotAccepted);
  assert.equal((await changePassword(root, "alice", PASSWORD, "other")).code, ErrorCode.TransientNotAccepted);
  Object.assign(passwordChecks, { hash, check });
  assert.equal((await createUser(root, "bob")).code, 0);
  assert.equal((await changePassword(root, "alice", PASSWORD, "other")).code, 0);
  await server.stop();
});
