import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { ClientOptions } from "../client-options.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTime } from "../testing/fake-time.test.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

/** A client, its server, and the time they live in. */
async function setUp(options: ClientOptions = {}) {
  const server = new FakeServer();
  const time = new FakeTime();
  const connecting = server.connect({ platform: time.on(server.platform), ...options });
  return { server, time, client: await time.until(connecting) };
}

test("close ends also while callers go on asking, and tells them that the client is closed", async () => {
  const { server, time, client } = await setUp();
  let answered = 0;
  server.script = (request) => {
    answered += 1;
    time.clock.setTimer(1 + (answered % 3), () => request.succeed());
    return true;
  };
  const ask = async () => {
    for (;;) await client.ping();
  };
  const askers = [ask(), ask(), ask()].map((asker) =>
    assert.rejects(asker, hasCode(ErrorCode.ClientShutdown)),
  );
  await time.pass(5);
  await time.until(client.close());
  await Promise.all(askers);
});

test("who hears that a request ran out of time finds no connection, and asks the next one", async () => {
  const { server, time, client } = await setUp({ requestTimeoutMs: 60, retrySends: false });
  let isSilent = true;
  server.script = (request) => request.command === "SendMessages" && isSilent;
  const send = () =>
    client.sendMessages({ stream: "s", topic: "t", messages: [{ payload: "x" }], partitioning: "balanced" });
  const heard = send().finally(() => {
    assert.equal(client.isConnected, false);
    isSilent = false;
  });
  await assert.rejects(time.until(heard), hasCode(ErrorCode.OutcomeUnknown));
  await time.until(send());
  await client.close();
});

test("while the connection takes nothing, one ping waits and not one after another", async () => {
  const { server, time, client } = await setUp({ heartbeatIntervalMs: 4 });
  server.script = (request) => request.command === "Ping";
  await time.pass(100);
  assert.equal(server.received("Ping").length, 1);
  server.cut();
  await time.pass(100);
  assert.equal(server.received("Ping").length, 2, "the next connection has a ping of its own");
  server.script = () => false;
  server.cut();
  await client.close();
});

test("times may be endless", async () => {
  const endless = Number.POSITIVE_INFINITY;
  const { server, time, client } = await setUp({
    ...{ requestTimeoutMs: endless, connectTimeoutMs: endless, heartbeatIntervalMs: endless },
    reconnect: { intervalMs: endless, delayMaxMs: 2 ** 40 },
  });
  const delays: (number | undefined)[] = [];
  client.on("reconnecting", ({ delayMs }) => delays.push(delayMs));
  let isWritten = false;
  const producer = client.producer({ stream: "s", topic: "t", lingerMs: endless });
  const sent = producer.send({ payload: "x" }).then(() => {
    isWritten = true;
  });
  await time.pass(30);
  assert.equal(isWritten, false, "it waits for company");
  await time.until(producer.flush());
  await sent;
  server.cut();
  await time.pass(30);
  assert.equal(delays.length, 1);
  await client.close();
});

test("numbers that cannot work are refused before anything is connected", async () => {
  const server = new FakeServer();
  const refused: readonly ClientOptions[] = [
    { sendMemoryLength: 0 },
    { sendMemoryLength: 1_048_576 },
    { sendMemoryLength: 2 ** 32 },
    { sendMemoryLength: 3_000_000.5 },
    { inFlightMax: 1.5 },
  ];
  for (const options of refused)
    await assert.rejects(server.connect(options), hasCode(ErrorCode.InvalidArgument));
  assert.equal(server.connections.length, 0);
  const client = await server.connect({ sendMemoryLength: 2_097_152 });
  await client.sendMessages({ stream: "s", topic: "t", messages: [{ payload: "x" }] });
  assert.throws(() => client.producer({ stream: "s", topic: "t", batchCountMax: 1.5 }), /whole/);
  await client.close();
});
