import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeGetConsumerOffsetReply,
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodePurgeTopic,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  Operation,
  type Partitioning,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { Answer, TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../testing/test-server.ts";

const COUNTING = "millrace-node";
const target = { stream: toIdentifier(0), topic: toIdentifier(0) };
const KEY = new Uint8Array(32).fill(9);

async function started(options: TestServerOptions = {}, partitionsCount = 1) {
  const server = await TestServer.start(options);
  const admin = await server.login(1n);
  await server.drive(admin.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS })));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options: NO_OPTIONS };
  await server.drive(admin.ok("CreateTopic", encodeCreateTopic(topic)));
  return { server, admin };
}

/** A client of a library that counts its requests. */
async function counting(server: TestServer, client = 7n, sdkName = COUNTING): Promise<TestClient> {
  const one = server.connect();
  await server.drive(one.login({ client, sdkName }));
  return one;
}

function send(client: TestClient, request: bigint, texts: readonly string[], partitioning?: Partitioning) {
  const body = sendBody(texts, partitioning === undefined ? {} : { partitioning });
  return client.exchange(client.frame(Operation.SendMessages, body, { request }));
}

function baseOffsetOf({ code, payload }: Answer): number | undefined {
  assert.equal(code, 0);
  return decodeSendMessagesReply(payload)[0]?.baseOffset;
}

async function textsOf(client: TestClient, partitionId = 0): Promise<string[]> {
  const { messages } = polled(await client.ok("PollMessages", pollBody({ partitionId })));
  return messages.map(({ text }) => text);
}

test("A send that comes again is confirmed as before and written once, on any connection and after restarts.", async () => {
  for (const key of [undefined, KEY]) {
    const options = key === undefined ? {} : { key };
    let { server } = await started(options);
    let client = await counting(server);
    const first = await send(client, 1n, ["a", "b"]);
    await send(client, 2n, ["c"]);
    const expectAgain = async () => {
      const again = await send(client, 1n, ["a", "b"]);
      assert.deepEqual(again.payload, first.payload);
      const { op, timestamp } = again.header;
      assert.deepEqual([op, timestamp], [first.header.op, first.header.timestamp]);
      assert.deepEqual(await textsOf(client), ["a", "b", "c"]);
    };
    await expectAgain();
    client.close();
    await server.platform.clock.run(10);
    client = await counting(server);
    await expectAgain();
    for (const end of ["stop", "kill"] as const) {
      const disk = end === "stop" ? await server.stop() : server.kill();
      server = await TestServer.start({ disk, ...options });
      client = await counting(server);
      await expectAgain();
    }
    await server.stop();
  }
});

test("Another content, operation, client, user or library under a number that was used is a request of its own.", async () => {
  const { server, admin } = await started();
  const client = await counting(server);
  await send(client, 1n, ["a"]);
  assert.equal(baseOffsetOf(await send(client, 1n, ["b"])), 1);
  assert.equal(baseOffsetOf(await send(client, 1n, ["b", "b"])), 2);
  const other = await counting(server, 8n);
  assert.equal(baseOffsetOf(await send(other, 1n, ["b"])), 4);
  const foreign = await counting(server, 9n, "iggy");
  assert.equal(baseOffsetOf(await send(foreign, 1n, ["x"])), 5);
  assert.equal(baseOffsetOf(await send(foreign, 1n, ["x"])), 6);
  assert.equal(baseOffsetOf(await send(admin, 50n, ["y"])), 7);
  assert.equal(baseOffsetOf(await send(admin, 50n, ["y"])), 8);
  await server.stop();
});

test("A send that comes again while the first is under way shares its outcome, good or bad.", async () => {
  const { server } = await started({ diskLatencyMaxMs: 5, config: { partitionQueueDepth: 1 } });
  const client = await counting(server);
  const frames = [1n, 2n, 3n, 1n, 2n, 3n, 2n].map((request) => send(client, request, [`m${request}`]));
  const answers = await server.drive(Promise.all(frames));
  assert.deepEqual(answers.map(baseOffsetOf), [0, 1, 2, 0, 1, 2, 1]);
  const disk = server.platform.disk;
  disk.setFaults(() => ({ kind: "error", errno: "EIO" }));
  const failing = [4n, 4n].map((request) => send(client, request, ["lost"]));
  const failed = await server.drive(Promise.all(failing));
  assert.deepEqual(
    failed.map(({ code }) => code),
    [ErrorCode.FileFenced, ErrorCode.FileFenced],
  );
  disk.setFaults(undefined);
  assert.equal(baseOffsetOf(await send(client, 2n, ["m2"])), 1);
  await server.drive(server.broker.stop({ drainMs: 1000 }));
  assert.equal(server.pool.leasesOut, 0);
});

test("A repeated send whose partition the server chose goes where it went, and new ones go on in turn.", async () => {
  const { server } = await started({}, 3);
  let client = await counting(server);
  const placeOf = (answer: Answer) => decodeSendMessagesReply(answer.payload)[0];
  const places = [];
  for (let number = 1n; number <= 4n; number++) {
    places.push(placeOf(await send(client, number, [`m${number}`], { kind: "balanced" })));
  }
  assert.deepEqual(
    places.map((place) => place?.partitionId),
    [0, 1, 2, 0],
  );
  client.close();
  await server.platform.clock.run(10);
  client = await counting(server);
  for (const number of [2n, 3n, 4n]) {
    const again = placeOf(await send(client, number, [`m${number}`], { kind: "balanced" }));
    assert.deepEqual(again, places[Number(number) - 1]);
  }
  assert.equal(placeOf(await send(client, 5n, ["m5"], { kind: "balanced" }))?.partitionId, 1);
  assert.deepEqual(await textsOf(client, 1), ["m2", "m5"]);
  await server.stop();
});

test("An offset stored or deleted again does nothing again, though it is no longer allowed.", async () => {
  const { server } = await started();
  const client = await counting(server);
  await send(client, 1n, ["a", "b", "c"]);
  const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
  const place = { ...target, consumer, partitionId: 0 };
  const store = (offset: bigint, request: bigint) => {
    const body = encodeStoreConsumerOffset({ ...place, offset, ack: "quorum" });
    return client.exchange(client.frame(Operation.StoreConsumerOffset, body, { request }));
  };
  const remove = (request: bigint) => {
    const body = encodeDeleteConsumerOffset({ ...place, ack: "quorum" });
    return client.exchange(client.frame(Operation.DeleteConsumerOffset, body, { request }));
  };
  const stored = async () =>
    decodeGetConsumerOffsetReply(await client.ok("GetConsumerOffset", encodeGetConsumerOffset(place)))
      ?.storedOffset;
  assert.equal((await store(1n, 2n)).code, 0);
  assert.equal((await store(2n, 3n)).code, 0);
  assert.equal((await store(1n, 2n)).code, 0);
  assert.equal(await stored(), 2);
  assert.equal((await remove(4n)).code, 0);
  assert.equal((await remove(4n)).code, 0);
  assert.equal((await remove(5n)).code, ErrorCode.ConsumerOffsetNotFound);
  assert.equal((await store(2n, 3n)).code, 0);
  assert.equal(await stored(), undefined);
  assert.equal((await store(2n ** 64n - 1n, 6n)).code, ErrorCode.InvalidOffset);
  await client.ok("PurgeTopic", encodePurgeTopic(target));
  assert.equal((await store(2n, 3n)).code, 0);
  assert.equal((await store(2n, 7n)).code, ErrorCode.InvalidOffset);
  assert.equal(baseOffsetOf(await send(client, 1n, ["a", "b", "c"])), 0);
  assert.deepEqual(await textsOf(client), []);
  await server.stop();
});

test("A poll that stores an offset under the number of the next write does not take the write for done.", async () => {
  const { server } = await started();
  const client = await counting(server);
  await send(client, 1n, ["a", "b"]);
  client.nextNumber = 2n;
  await client.ok("PollMessages", pollBody({ autoCommit: true }));
  const body = encodeStoreConsumerOffset({
    ...target,
    consumer: { kind: "consumer", id: toIdentifier(1) },
    partitionId: 0,
    offset: 0n,
    ack: "quorum",
  });
  await client.ok("StoreConsumerOffset", body);
  const next = polled(await client.ok("PollMessages", pollBody({ strategy: { kind: "next" } })));
  assert.deepEqual(
    next.messages.map(({ text }) => text),
    ["b"],
  );
  await server.stop();
});

test("A partition remembers 128 requests of a client, and as many clients as it is told, the latest.", async () => {
  const { server } = await started({ config: { requestClientsMax: 2 } });
  const client = await counting(server);
  for (let number = 1n; number <= 129n; number++) await send(client, number, [`m${number}`]);
  assert.equal(baseOffsetOf(await send(client, 2n, ["m2"])), 1);
  assert.equal(baseOffsetOf(await send(client, 1n, ["m1"])), 129);
  for (const other of [20n, 21n]) await send(await counting(server, other), 1n, ["x"]);
  assert.equal(baseOffsetOf(await send(client, 129n, ["m129"])), 132);
  assert.equal(baseOffsetOf(await send(await counting(server, 21n), 1n, ["x"])), 131);
  await server.stop();
});
