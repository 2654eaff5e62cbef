import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  CommandCode,
  decodeGetClusterMetadataReply,
  decodeLoginReply,
  EvictionReason,
  encodeCreateStream,
  encodeLoginRegister,
  encodeLoginRegisterWithPat,
  NO_OPTIONS,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import { TestServer } from "../testing/test-server.ts";

const createStream = (name: string) => encodeCreateStream({ name, options: NO_OPTIONS });
const LOGIN = {
  protocolVersion: PROTOCOL_VERSION,
  sdkName: "test",
  sdkVersion: "1",
  username: "iggy",
  password: "iggy",
  context: "",
};
const REGISTER = { session: 0n, request: 0n };

test("Ping is served before login, other reads are refused with 40 and the connection stays.", async () => {
  const server = await TestServer.start();
  const client = server.connect();
  assert.equal((await client.command("Ping")).code, 0);
  assert.equal((await client.command("GetClusterMetadata")).code, ErrorCode.Unauthenticated);
  assert.equal((await client.command("GetMe")).code, ErrorCode.Unauthenticated);
  assert.equal((await client.command("Ping")).payload.length, 0);
  await server.stop();
});

test("A login answers user, session and versions, and the roster names one healthy leader.", async () => {
  const server = await TestServer.start();
  const client = server.connect();
  const answer = await client.login({ client: 77n });
  const reply = decodeLoginReply(answer.payload);
  assert.equal(reply.userId, 0);
  assert.ok(reply.session > 0);
  assert.equal(reply.serverProtocolVersion, PROTOCOL_VERSION);
  assert.equal(reply.serverVersion, "0.9.0");
  assert.equal(answer.header.op, BigInt(reply.session));
  assert.equal(answer.header.client, 77n);
  const { nodes } = decodeGetClusterMetadataReply(await client.ok("GetClusterMetadata"));
  assert.deepEqual([nodes[0]?.role, nodes[0]?.status, nodes[0]?.quicPort], ["leader", "healthy", 0]);
  await server.stop();
});

test("A second login on the connection answers the same session, whatever its credentials are.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const again = await client.command(
    "LoginRegister",
    encodeLoginRegister({ ...LOGIN, password: "wrong" }),
    REGISTER,
  );
  assert.equal(BigInt(decodeLoginReply(again.payload).session), client.session);
  await server.stop();
});

test("Wrong credentials, of whatever kind, end in eviction 9 and a closed connection.", async () => {
  const server = await TestServer.start();
  for (const wrong of [
    { password: "wrong" },
    { username: "nobody" },
    { username: "ab" },
    { password: "ab" },
    { username: "a".repeat(51) },
    { password: "a".repeat(101) },
  ]) {
    const client = server.connect();
    const answer = await client.command(
      "LoginRegister",
      encodeLoginRegister({ ...LOGIN, ...wrong }),
      REGISTER,
    );
    assert.equal(answer.eviction?.reason, EvictionReason.InvalidCredentials);
    assert.equal(answer.eviction?.client, 1n);
    await server.platform.clock.run(10);
    assert.equal(client.isClosed, true);
  }
  await server.stop();
});

test("A protocol of another line ends in eviction 14 with the window, any patch of ours is welcome.", async () => {
  const server = await TestServer.start();
  for (const protocolVersion of [PROTOCOL_VERSION - 1, PROTOCOL_VERSION + 1024, 0]) {
    const answer = await server
      .connect()
      .command("LoginRegister", encodeLoginRegister({ ...LOGIN, protocolVersion }), REGISTER);
    assert.equal(answer.eviction?.reason, EvictionReason.IncompatibleProtocol);
    assert.equal(answer.eviction?.serverProtocolVersion, PROTOCOL_VERSION);
    assert.equal(answer.eviction?.serverProtocolVersionMin, PROTOCOL_VERSION);
  }
  const patched = { ...LOGIN, protocolVersion: PROTOCOL_VERSION + 7 };
  const answer = await server.connect().command("LoginRegister", encodeLoginRegister(patched), REGISTER);
  assert.equal(answer.code, 0);
  await server.stop();
});

test("An undecodable login ends in eviction 15, a token that nobody has in 10, legacy logins in 15.", async () => {
  const server = await TestServer.start();
  const reasonOf = async (body: Uint8Array) =>
    (await server.connect().command("LoginRegister", body, REGISTER)).eviction?.reason;
  assert.equal(await reasonOf(new Uint8Array([1, 2])), EvictionReason.MalformedLogin);
  assert.equal(await reasonOf(new Uint8Array(0)), EvictionReason.MalformedLogin);
  assert.equal(await reasonOf(encodeLoginRegister(LOGIN).slice(0, -3)), EvictionReason.MalformedLogin);
  const byToken = encodeLoginRegisterWithPat({ ...LOGIN, token: "t".repeat(68) });
  assert.equal(await reasonOf(byToken), EvictionReason.InvalidToken);
  for (const code of [CommandCode.LoginUser, CommandCode.LoginWithPersonalAccessToken]) {
    const client = server.connect();
    const answer = await client.exchange(client.frame(Operation.NonReplicated, undefined, { code }));
    assert.equal(answer.eviction?.reason, EvictionReason.MalformedLogin);
  }
  await server.stop();
});

test("A Register with a session or a request number is refused with 3.", async () => {
  const server = await TestServer.start();
  const client = server.connect();
  const body = encodeLoginRegister(LOGIN);
  assert.equal((await client.command("LoginRegister", body, { session: 1n, request: 0n })).code, 3);
  assert.equal((await client.command("LoginRegister", body, { session: 0n, request: 1n })).code, 3);
  assert.equal((await client.login()).code, 0);
  await server.stop();
});

test("A write without a session ends in eviction 1, and a client id of another session is not harmed.", async () => {
  const server = await TestServer.start();
  const good = await server.login(1n);
  const stranger = server.connect();
  const answer = await stranger.command("CreateStream", createStream("a"));
  assert.equal(answer.eviction?.reason, EvictionReason.NoSession);
  await good.ok("CreateStream", createStream("a"));
  await server.stop();
});

test("Logout ends the session and leaves the connection open for another login.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const answer = await client.command("LogoutUser");
  assert.deepEqual([answer.code, answer.payload.length], [0, 0]);
  assert.equal((await client.command("GetStreams")).code, ErrorCode.Unauthenticated);
  const repeated = await client.command("LogoutUser");
  assert.deepEqual([repeated.code, repeated.payload.length, repeated.header.op], [0, 0, 0n]);
  assert.equal((await client.login({ client: 2n })).code, 0);
  await client.ok("GetStreams");
  await server.stop();
});

test("A closed connection is logged out, so its client id leaves the client table.", async () => {
  const server = await TestServer.start();
  const client = await server.login(5n);
  const { clientTable } = server.broker.shard.metadata;
  assert.equal(clientTable.count, 1);
  client.close();
  await server.platform.clock.run(10);
  assert.equal(clientTable.count, 0);
  assert.equal(server.broker.shard.connections.count, 0);
  await server.stop();
});

test("A client id that registers again keeps its watermark and fences the older connection.", async () => {
  const server = await TestServer.start();
  const first = await server.login(5n);
  await first.ok("CreateStream", createStream("a"));
  const second = await server.login(5n);
  assert.ok(second.session > first.session);
  const repeated = await second.command("CreateStream", createStream("a"), { request: 1n });
  assert.equal(repeated.code, 0, "the reply to request 1 comes from the client table");
  const fenced = await first.command("CreateStream", createStream("b"));
  assert.equal(fenced.eviction?.reason, EvictionReason.SessionTooLow);
  await server.platform.clock.run(10);
  assert.equal((await second.command("CreateStream", createStream("b"), { request: 2n })).code, 0);
  await server.stop();
});

test("A full client table refuses the newcomer with 58 and keeps everybody who is in it.", async () => {
  const server = await TestServer.start({ config: { clientsTableMax: 2 } });
  const one = await server.login(1n);
  await server.login(2n);
  const newcomer = server.connect();
  assert.equal((await newcomer.login({ client: 3n })).code, ErrorCode.TransientNotAccepted);
  await one.ok("GetStreams");
  await one.ok("LogoutUser");
  assert.equal((await newcomer.login({ client: 3n })).code, 0);
  await server.stop();
});

test("Sessions that a kill left behind are logged out when their client has not come back.", async () => {
  const before = await TestServer.start();
  await before.login(1n);
  await before.login(2n);
  const server = await TestServer.start({ disk: before.kill() });
  const { clientTable } = server.broker.shard.metadata;
  assert.equal(clientTable.count, 2);
  await server.login(2n);
  await server.platform.clock.run(121_000);
  assert.deepEqual(
    clientTable.sessions().map(({ client }) => client),
    [2n],
  );
  await server.stop();
});
