import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  COMMANDS,
  CommandCode,
  EvictionReason,
  encodeCreateStream,
  isLegacyLogin,
  NO_OPTIONS,
  Operation,
} from "@millrace/protocol";
import { SeededRandom } from "@millrace/testkit";
import { COMMAND_HANDLERS } from "../commands/command-handlers.ts";
import { TestServer } from "../testing/test-server.ts";

const streamBody = (name: string) => encodeCreateStream({ name, options: NO_OPTIONS });

test("Frames the reference drops in silence are answered with 3 and the session goes on.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  for (const operation of [0, 4, 63, 64, 65, 68, 150, 200, 255]) {
    assert.equal(
      (await client.exchange(client.frame(operation))).code,
      ErrorCode.InvalidCommand,
      `${operation}`,
    );
  }
  const foreign = client.frame(Operation.NonReplicated, undefined, { code: CommandCode.Ping, command: 8 });
  assert.equal((await client.exchange(foreign)).code, ErrorCode.InvalidCommand);
  const nobody = client.frame(Operation.NonReplicated, undefined, { code: CommandCode.Ping, client: 0n });
  assert.equal((await client.exchange(nobody)).code, ErrorCode.InvalidCommand);
  for (const header of [{ session: 0n }, { request: 0n }]) {
    const answer = await client.exchange(client.frame(Operation.CreateStream, streamBody("x"), header));
    assert.equal(answer.code, ErrorCode.InvalidCommand);
  }
  await client.ok("GetStreams");
  await server.stop();
});

test("An unknown code answers 3, one with an operation of its own 5, and the session stays usable.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const direct = async (code: number) =>
    (await client.exchange(client.frame(Operation.NonReplicated, undefined, { code }))).code;
  for (const code of [0, 2, 60_000, 2 ** 32 - 1]) assert.equal(await direct(code), ErrorCode.InvalidCommand);
  assert.equal(await direct(CommandCode.CreateStream), ErrorCode.FeatureUnavailable);
  assert.equal(await direct(CommandCode.SendMessages), ErrorCode.FeatureUnavailable);
  assert.equal(await direct(CommandCode.LoginRegister), ErrorCode.FeatureUnavailable);
  await client.ok("CreateStream", streamBody("still works"));
  await server.stop();
});

test("Flush alone of all commands is carried out by nobody, and answers FeatureUnavailable.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const served = new Set<number>([
    CommandCode.Ping,
    CommandCode.LoginRegister,
    CommandCode.LoginRegisterWithPat,
    CommandCode.ReadWithoutLogin,
  ]);
  const unbuilt = COMMANDS.filter(
    ({ code, operation }) =>
      !COMMAND_HANDLERS.has(code) &&
      !served.has(code) &&
      operation !== Operation.Logout &&
      !isLegacyLogin(code),
  );
  assert.deepEqual(
    unbuilt.map(({ name }) => name),
    ["FlushUnsavedBuffer"],
  );
  for (const { name } of unbuilt) {
    assert.equal((await client.command(name)).code, ErrorCode.FeatureUnavailable, name);
  }
  await server.stop();
});

test("A request checksum must be that of the body, or absent.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const body = streamBody("s");
  const wrong = client.frame(Operation.CreateStream, body, { requestChecksum: 1n });
  assert.equal((await client.exchange(wrong)).code, ErrorCode.InvalidFormat);
  const right = server.broker.shard.kernel.hashBytes(body);
  const wide = client.frame(Operation.CreateStream, body, { requestChecksum: right | (1n << 64n) });
  assert.equal((await client.exchange(wide)).code, ErrorCode.InvalidFormat);
  const good = await client.exchange(client.frame(Operation.CreateStream, body, { requestChecksum: right }));
  assert.equal(good.code, 0);
  assert.equal(good.header.requestChecksum, right);
  await server.stop();
});

test("Names of 0 and 256 bytes, cut bodies and bytes behind a body answer 3, and nothing is created.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const commit = server.broker.shard.metadata.commit;
  const bodies = [
    new Uint8Array([0]),
    new Uint8Array([5, 97, 98]),
    new Uint8Array([1, 0xff]),
    new Uint8Array([...streamBody("abc"), 1]),
    new Uint8Array(0),
  ];
  for (const body of bodies) {
    assert.equal((await client.command("CreateStream", body)).code, ErrorCode.InvalidCommand);
  }
  assert.equal((await client.command("GetStreams", new Uint8Array([1]))).code, ErrorCode.InvalidCommand);
  assert.equal((await client.command("GetStream", new Uint8Array([2, 0]))).code, ErrorCode.InvalidCommand);
  assert.equal(server.broker.shard.metadata.commit, commit, "no op was spent");
  await client.ok("CreateStream", streamBody("a".repeat(255)));
  await server.stop();
});

test("A message of a size no request has closes its connection and no other.", async () => {
  const server = await TestServer.start();
  const good = await server.login();
  for (const length of [0, 255, 2 ** 32 - 1]) {
    const bad = server.connect();
    const frame = bad.frame(Operation.NonReplicated, undefined, { code: CommandCode.Ping });
    new DataView(frame.buffer).setUint32(48, length, true);
    bad.sendRaw(frame);
    await server.platform.clock.run(10);
    assert.equal(bad.isClosed, true, `${length}`);
  }
  await good.ok("GetStreams");
  await server.stop();
});

test("Random bytes in every header field and body never stop the server or another session.", async () => {
  const server = await TestServer.start();
  const good = await server.login(1n);
  const random = new SeededRandom(2);
  for (let round = 0; round < 300; round++) {
    const client = round % 3 === 0 ? server.connect() : await server.login(100n + BigInt(round));
    const operation = random.pick([1, 2, 3, 128, 131, 132, 133, 136, 138, 160, 161, 162, random.below(256)]);
    const code = random.pick([10, 12, 13, 20, 21, 100, 120, 200, 300, 301, random.below(700)]);
    const body = random.bytes(random.below(60));
    const frame = client.frame(operation, body, { code });
    for (let flips = random.below(3); flips > 0; flips--) frame[60 + random.below(196)] = random.below(256);
    await client.exchange(frame).catch(() => undefined);
    client.close();
  }
  await good.ok("Ping");
  await good.ok("GetStreams");
  await server.stop();
});

test("An eviction answers a write without session even when its numbers are missing.", async () => {
  const server = await TestServer.start();
  const client = server.connect();
  const answer = await client.exchange(client.frame(Operation.SendMessages, undefined, { request: 0n }));
  assert.equal(answer.eviction?.reason, EvictionReason.NoSession);
  await server.stop();
});
