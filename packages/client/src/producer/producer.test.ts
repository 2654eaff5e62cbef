import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { decodeSendMetadata } from "@millrace/protocol";
import type { FakeRequest } from "../testing/fake-server.test.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const target = { stream: "s", topic: "t" } as const;
const texts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);
const messagesOf = (payloads: readonly string[]) => payloads.map((payload) => ({ payload }));
const countOf = (request: FakeRequest) => decodeSendMetadata(request.body).messagesCount;

async function setUp(partitionsCount = 1, options: Parameters<FakeServer["connect"]>[0] = {}) {
  const server = new FakeServer();
  const topic = new FakeTopic(partitionsCount);
  server.script = topic.script;
  return { server, topic, client: await server.connect(options) };
}

test("messages sent one by one travel in one batch, and each send learns its own offset", async () => {
  const { server, topic, client } = await setUp();
  const producer = client.producer(target);
  const acks = await Promise.all(texts(0, 10).map((payload) => producer.send({ payload })));
  assert.deepEqual(
    acks.map((ack) => ack.offset),
    Array.from({ length: 10 }, (_, index) => BigInt(index)),
  );
  assert.deepEqual(server.received("SendMessages").map(countOf), [10]);
  assert.deepEqual(topic.texts(), texts(0, 10));
  assert.equal(acks[3]?.partitionId, 0);
  await client.close();
  assert.equal(client.leasesOut, 0);
});

test("a batch is cut by count and by length, and one send may span several", async () => {
  const { server, topic, client } = await setUp();
  const byCount = client.producer({ ...target, batchCountMax: 4 });
  const ack = await byCount.send(messagesOf(texts(0, 10)));
  assert.deepEqual(server.received("SendMessages").map(countOf), [4, 4, 2]);
  assert.equal(ack.offset, 0n);
  assert.equal(ack.count, 10);
  assert.deepEqual(
    ack.ranges.map((range) => [range.offset, range.count]),
    [
      [0n, 4],
      [4n, 4],
      [8n, 2],
    ],
  );
  const byLength = client.producer({ ...target, batchLengthMax: 256 + 2 * (48 + 100) });
  await byLength.send(Array.from({ length: 5 }, () => ({ payload: new Uint8Array(100).fill(65) })));
  assert.deepEqual(server.received("SendMessages").map(countOf).slice(3), [2, 2, 1]);
  assert.equal(topic.texts().length, 15);
  await client.close();
});

test("a message waits for company as long as linger says, and no longer", async () => {
  const server = new FakeServer();
  const { clock } = server.platform;
  const lingers: (() => void)[] = [];
  // The time of the linger passes when the test says so.
  const held: typeof clock = {
    monotonicMs: () => clock.monotonicMs(),
    wallMicros: () => clock.wallMicros(),
    afterEvent: (callback) => clock.afterEvent(callback),
    setTimer: (delayMs, callback) => {
      if (delayMs !== 40) return clock.setTimer(delayMs, callback);
      lingers.push(callback);
      return { cancel: () => {} };
    },
  };
  const client = await server.connect({ platform: { ...server.platform, clock: held } });
  const producer = client.producer({ ...target, lingerMs: 40 });
  const sent = producer.send({ payload: "x" });
  await pause(20);
  assert.equal(server.received("SendMessages").length, 0);
  assert.equal(lingers.length, 1);
  lingers[0]?.();
  await sent;
  assert.equal(server.received("SendMessages").length, 1);
  await client.close();
});

test("ids are random version 4 UUIDs unless given, and origin times are kept", async () => {
  const { topic, client } = await setUp();
  const producer = client.producer(target);
  await producer.send([
    { payload: "a" },
    { payload: "b", id: 2n ** 128n - 1n, originTimestamp: 5n },
    { payload: "c" },
  ]);
  const frames = (topic.partitions[0] ?? []).map(({ bytes }) => new DataView(bytes.buffer, bytes.byteOffset));
  const idOf = (view: DataView | undefined) =>
    ((view?.getBigUint64(16, true) ?? 0n) << 64n) | (view?.getBigUint64(8, true) ?? 0n);
  const text = idOf(frames[0]).toString(16).padStart(32, "0");
  assert.match(text, /^.{12}4.{3}[89ab].{15}$/);
  assert.equal(idOf(frames[1]), 2n ** 128n - 1n);
  assert.notEqual(idOf(frames[2]), idOf(frames[0]));
  await client.close();
});

test("a full buffer makes send wait and tryEnqueue refuse, until there is room", async () => {
  const { server, topic, client } = await setUp();
  const held: FakeRequest[] = [];
  server.script = (request) =>
    request.command === "SendMessages" ? held.push(request) > 0 : topic.script(request);
  const producer = client.producer({ ...target, bufferLengthMax: 300, lingerMs: 0 });
  const payload = new Uint8Array(100).fill(66);
  const first = producer.send([{ payload }, { payload }]);
  let isAdmitted = false;
  const second = producer.enqueue({ payload }).then(() => {
    isAdmitted = true;
  });
  assert.equal(producer.tryEnqueue({ payload }), false);
  await pause(20);
  assert.equal(isAdmitted, false);
  assert.equal(held.length, 1);
  server.script = topic.script;
  topic.script(held[0] as FakeRequest);
  await first;
  await second;
  assert.equal(producer.tryEnqueue({ payload }), true);
  await producer.flush();
  assert.equal(topic.texts().length, 4);
  assert.equal(producer.bufferedLength, 0);
  await client.close();
});

test("batches keep their order over a reconnect: those in flight go again first, under their numbers", async () => {
  const { server, topic, client } = await setUp();
  const lost: FakeRequest[] = [];
  server.script = (request) => {
    if (request.command !== "SendMessages") return topic.script(request);
    lost.push(request);
    if (lost.length === 3) server.cut();
    return true;
  };
  const producer = client.producer({ ...target, batchCountMax: 5, inFlightMax: 3 });
  const sent = producer.send(messagesOf(texts(0, 40)));
  const seen = new Promise<void>((resolve) => {
    client.on("disconnected", () => {
      server.script = topic.script;
      resolve();
    });
  });
  await seen;
  await sent;
  assert.deepEqual(topic.texts(), texts(0, 40));
  const numbers = server.received("SendMessages").map((request) => request.number);
  assert.deepEqual(numbers.slice(0, 6), [1, 2, 3, 1, 2, 3]);
  assert.equal(client.leasesOut, 0);
  await client.close();
});

test("without retrySends a send whose connection died has an unknown outcome, the next one is written", async () => {
  const { server, topic, client } = await setUp(1, { retrySends: false });
  let cuts = 1;
  server.script = (request) => {
    if (request.command !== "SendMessages" || cuts-- <= 0) return topic.script(request);
    server.cut();
    return true;
  };
  const producer = client.producer({ ...target, lingerMs: 0 });
  await assert.rejects(producer.send({ payload: "lost" }), hasCode(ErrorCode.OutcomeUnknown));
  await producer.send({ payload: "kept" });
  assert.deepEqual(topic.texts(), ["kept"]);
  await assert.rejects(producer.flush(), hasCode(ErrorCode.OutcomeUnknown));
  await producer.flush();
  await client.close();
});

test("a batch refused for a moment holds back those that come after it", async () => {
  const { server, topic, client } = await setUp();
  let refusals = 2;
  server.script = (request) => {
    if (request.command !== "SendMessages" || refusals-- <= 0) return topic.script(request);
    request.deny(ErrorCode.TransientNotAccepted);
    return true;
  };
  const producer = client.producer({ ...target, batchCountMax: 5, inFlightMax: 2 });
  await producer.send(messagesOf(texts(0, 30)));
  assert.deepEqual(topic.texts(), texts(0, 30));
  await client.close();
});

test("a send answered from the server's memory of repeated requests resolves without a place", async () => {
  const { server, client } = await setUp();
  server.script = () => false;
  const ack = await client.producer(target).send({ payload: "x" });
  assert.deepEqual(ack, {
    partitionId: undefined,
    offset: undefined,
    count: 1,
    ranges: [{ partitionId: undefined, offset: undefined, count: 1 }],
  });
  await client.close();
});

test("a key leads to its partition by XXH32, keys of one partition share a batch", async () => {
  const { server, topic, client } = await setUp(3);
  const producer = client.producer(target);
  const keys = ["", "a", "b", "c", "d", "e", "f"].map((end) => `customer-${end}`);
  await Promise.all(keys.map((key) => producer.send({ payload: key, key })));
  await Promise.all(keys.map((key) => producer.send({ payload: key, key })));
  assert.equal(server.received("GetTopic").length, 1);
  assert.ok(server.received("SendMessages").length <= 6);
  const { loadKeyHash } = await import("@millrace/framing");
  const hash = await loadKeyHash();
  for (const key of keys) {
    const partition = hash(new TextEncoder().encode(key)) % 3;
    assert.equal(topic.texts(partition).filter((text) => text === key).length, 2);
  }
  await client.close();
});

test("keys are placed anew, in order, when their partition is gone", async () => {
  const { server, topic, client } = await setUp(8);
  const producer = client.producer({
    ...target,
    partitioning: { key: "k" },
    batchCountMax: 2,
    inFlightMax: 3,
  });
  await producer.send({ payload: "before" });
  topic.partitions.length = 0;
  topic.partitions.push([]);
  await producer.send(messagesOf(texts(0, 12)));
  assert.deepEqual(topic.texts(0).slice(-12), texts(0, 12));
  // Once for the first key, once for the batches in flight, once for those that were full by then.
  assert.equal(server.received("GetTopic").length, 3);
  await client.close();
});

test("sending by key to a topic that does not exist or has no partitions says so", async () => {
  const { server, client } = await setUp(0);
  const producer = client.producer(target);
  await assert.rejects(producer.send({ payload: "x", key: "k" }), hasCode(ErrorCode.NoPartitions));
  server.script = () => false;
  await assert.rejects(producer.send({ payload: "x", key: "k" }), hasCode(ErrorCode.ResourceNotFound));
  await client.close().catch(() => {});
});

test("what the client checks comes out with its code before anything is sent", async () => {
  const { server, client } = await setUp();
  const producer = client.producer(target);
  const big = new Uint8Array(64_000_001);
  const headers = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`k${index}`, "v".repeat(250)]),
  );
  await assert.rejects(producer.send([]), hasCode(ErrorCode.InvalidMessagesCount));
  await assert.rejects(producer.send({ payload: "" }), hasCode(ErrorCode.EmptyMessagePayload));
  await assert.rejects(producer.send({ payload: big }), hasCode(ErrorCode.TooBigMessagePayload));
  await assert.rejects(producer.send({ payload: "x", headers }), hasCode(ErrorCode.TooBigUserHeaders));
  await assert.rejects(
    producer.send({ payload: "x", headers: { "": 1 } }),
    hasCode(ErrorCode.InvalidHeaderKey),
  );
  await assert.rejects(
    producer.send({ payload: "x", headers: { k: "" } }),
    hasCode(ErrorCode.InvalidHeaderValue),
  );
  await assert.rejects(producer.send({ payload: "x", key: "" }), hasCode(ErrorCode.InvalidKeyValueLength));
  await assert.rejects(producer.send({ payload: "x", id: 1n << 128n }), hasCode(ErrorCode.InvalidArgument));
  const far = [
    { payload: "x", originTimestamp: 0n },
    { payload: "x", originTimestamp: 1n << 32n },
  ];
  await assert.rejects(
    client.sendMessages({ ...target, messages: far }),
    hasCode(ErrorCode.InvalidMessageTimestampDelta),
  );
  await assert.rejects(
    client.sendMessages({ ...target, messages: [] }),
    hasCode(ErrorCode.InvalidMessagesCount),
  );
  assert.equal(server.received("SendMessages").length, 0);
  await producer.send(far);
  assert.deepEqual(server.received("SendMessages").map(countOf), [1, 1]);
  assert.equal(client.leasesOut, 0);
  await client.close().catch(() => {});
});

test("the server's refusal reaches the send it is about and the flush after it", async () => {
  const { client } = await setUp(1);
  const producer = client.producer({ ...target, partitioning: { partition: 9 } });
  await assert.rejects(producer.send({ payload: "x" }), hasCode(ErrorCode.ResourceNotFound));
  await assert.rejects(producer.flush(), hasCode(ErrorCode.ResourceNotFound));
  await producer.close();
  await client.close();
});

test("close sends what waits, can be repeated, and then sends are refused; the client closes its producers", async () => {
  const { topic, client } = await setUp();
  const producer = client.producer({ ...target, lingerMs: 60_000 });
  const other = client.producer({ ...target, lingerMs: 60_000 });
  void producer.send({ payload: "one" });
  other.tryEnqueue({ payload: "two" });
  await Promise.all([producer.close(), producer.close()]);
  assert.deepEqual(topic.texts(), ["one"]);
  await assert.rejects(producer.send({ payload: "late" }), hasCode(ErrorCode.ProducerClosed));
  await client.close();
  assert.deepEqual(topic.texts(), ["one", "two"]);
});

test("the end of the client fails what waits, and nobody has to look", async () => {
  const abort = new AbortController();
  const { server, topic, client } = await setUp(1, { signal: abort.signal });
  server.script = (request) => request.command === "SendMessages" || topic.script(request);
  const producer = client.producer({ ...target, batchCountMax: 1, inFlightMax: 2 });
  const sends = texts(0, 2000).map((payload) => producer.send({ payload }));
  void producer.send({ payload: "not awaited" });
  await pause(10);
  abort.abort();
  const results = await Promise.allSettled(sends);
  assert.ok(
    results.every((result) => result.status === "rejected" && hasCode(ErrorCode.Aborted)(result.reason)),
  );
  assert.equal(client.leasesOut, 0);
  await client.close().catch(() => {});
});

test("a batch longer than the memory for sends says which option to raise", async () => {
  const { client } = await setUp(1, { sendMemoryLength: 2_200_000 });
  const payload = new Uint8Array(3_000_000);
  await assert.rejects(client.sendMessages({ ...target, messages: [{ payload }] }), (error) => {
    assert.ok(isCodedError(error, ErrorCode.MemoryExhausted));
    assert.match(error.message, /sendMemoryLength/);
    return true;
  });
  const small = { payload: new Uint8Array(900_000).fill(1) };
  await Promise.all(Array.from({ length: 10 }, () => client.sendMessages({ ...target, messages: [small] })));
  assert.equal(client.leasesOut, 0);
  await client.close();
});
