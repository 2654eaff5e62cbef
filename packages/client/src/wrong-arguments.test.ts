import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { MillraceClient } from "./index.ts";
import { FakeServer } from "./testing/fake-server.test.ts";
import { FakeTopic } from "./testing/fake-topic.test.ts";

const PLACE = { stream: "s", topic: "t", partitionId: 0 };
const GROUP = { stream: "s", topic: "t", group: "g" };
const OFFSET = { ...PLACE, consumer: "c" };

/** Every call that answers by a promise, with arguments that are right. */
const CALLS: Readonly<Record<string, readonly unknown[]>> = {
  createStream: ["s", { options: { key: 1 } }],
  getStream: ["s"],
  updateStream: ["s", { name: "n" }],
  deleteStream: ["s"],
  purgeStream: ["s"],
  createTopic: ["s", { name: "t", partitionsCount: 1, messageExpiry: 1n, maxTopicSize: 1n, segmentSize: 1n }],
  getTopic: ["s", "t"],
  getTopicRetention: ["s", "t"],
  getTopics: ["s"],
  updateTopic: ["s", "t", { name: "n", messagesRequiredToSave: 1, preallocateSegments: true }],
  deleteTopic: ["s", "t"],
  purgeTopic: ["s", "t"],
  createPartitions: ["s", "t", 1],
  deletePartitions: ["s", "t", 1],
  deleteSegments: ["s", "t", 0, 1],
  getConsumerOffset: [OFFSET],
  storeConsumerOffset: [{ ...OFFSET, offset: 1n }],
  deleteConsumerOffset: [OFFSET],
  createUser: [{ username: "ann", password: "secret", status: "active", permissions: { global: {} } }],
  getUser: ["ann"],
  updateUser: ["ann", { username: "anna", status: "active" }],
  deleteUser: ["ann"],
  updatePermissions: ["ann", { streams: { 1: { topics: { 0: { sendMessages: true } } } } }],
  changePassword: ["ann", { currentPassword: "secret", newPassword: "other" }],
  createPersonalAccessToken: ["token", { expiry: 1n }],
  deletePersonalAccessToken: ["token"],
  createConsumerGroup: ["s", "t", "g"],
  deleteConsumerGroup: [GROUP],
  getConsumerGroup: [GROUP],
  getConsumerGroups: ["s", "t"],
  joinConsumerGroup: [GROUP],
  leaveConsumerGroup: [GROUP],
  syncConsumerGroup: [GROUP],
  getClient: [1],
  getClusterGroups: [{ countMax: 1, stream: "s", topic: "t" }],
  describeOptions: ["topic"],
  getSnapshot: [{ compression: "deflated", types: ["test"] }],
  flushUnsavedBuffer: [{ ...PLACE, fsync: true }],
  verifyPartition: [{ ...PLACE, lengthMax: 1, from: { segment: 0, opsPosition: 0, logPosition: 0 } }],
  repairPartition: [{ ...PLACE, offsets: "proven" }],
  sendMessages: [{ stream: "s", topic: "t", partitioning: { partition: 0 }, messages: [{ payload: "x" }] }],
  pollMessages: [{ ...OFFSET, startAt: { offset: 1n }, count: 1, autoCommit: false }],
};

const WRONG: readonly unknown[] = [
  ...[undefined, null, "", "\ud800", "x".repeat(300), -1, 0.5, Number.NaN, 2 ** 60, -1n, 1n << 64n, true],
  ...[{}, [], [undefined], { kind: "id" }, { offset: 0.5 }, { timestamp: "now" }, { key: null }, Symbol("x")],
];

/** The arguments with one of them, or one property of one of them, replaced by each wrong value. */
function* variants(args: readonly unknown[]): Generator<readonly unknown[]> {
  for (const [index, arg] of args.entries()) {
    for (const wrong of WRONG) {
      yield args.with(index, wrong);
      if (typeof arg !== "object" || arg === null) continue;
      for (const property of Object.keys(arg)) yield args.with(index, { ...arg, [property]: wrong });
    }
  }
}

test("whatever a call is given, it rejects with a coded error and never throws at once", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  for (const [name, args] of Object.entries(CALLS)) {
    const call = client[name as keyof MillraceClient] as (...args: unknown[]) => Promise<unknown>;
    for (const given of variants(args)) {
      const promise = call.apply(client, [...given]);
      await promise.catch((error: unknown) => assert.ok(isCodedError(error), `${name}: ${error}`));
    }
  }
  await client.close();
});

test("numbers are refused by their name, and other values by the command they were for", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  const sent = server.requests.length;
  const { InvalidArgument } = ErrorCode;
  const refused: readonly (readonly [() => Promise<unknown>, number, RegExp])[] = [
    [
      () => client.createTopic("s", { name: "t", partitionsCount: 3n as never }),
      InvalidArgument,
      /^partitionsCount is a bigint/,
    ],
    [
      () => client.createTopic("s", { name: 7 as never }),
      ErrorCode.InvalidTopicName,
      /text of UTF-8, of 1 to 255 bytes/,
    ],
    [
      () => client.deleteSegments("s", "t", -1, 1),
      InvalidArgument,
      /^partitionId is -1; it must be 0\.\.=4294967295/,
    ],
    [
      () => client.pollMessages({ ...OFFSET, count: 1.5 }),
      InvalidArgument,
      /^count is 1\.5; it is a whole number/,
    ],
    [
      () => client.pollMessages({ ...OFFSET, startAt: { offset: -1n } }),
      InvalidArgument,
      /^startAt\.offset is -1; .* 0\.\.2\^64-1/,
    ],
    [
      () => client.pollMessages({ ...OFFSET, startAt: "newest" as never }),
      InvalidArgument,
      /^startAt is "next", "first"/,
    ],
    [
      () => client.storeConsumerOffset({ ...OFFSET, offset: undefined as never }),
      InvalidArgument,
      /^offset is undefined/,
    ],
    [
      () => client.getStream(undefined as never),
      ErrorCode.InvalidIdentifier,
      /by its id, a number, or by its name/,
    ],
    [
      () => client.updateStream("s", undefined as never),
      InvalidArgument,
      /^What UpdateStream was given is of the wrong type/,
    ],
    [
      () => client.createStream(""),
      ErrorCode.InvalidStreamName,
      /The name of a stream has 1 to 255 bytes; this one has 0/,
    ],
    [
      () => client.createTopic("s", { name: "ł".repeat(128) }),
      ErrorCode.InvalidTopicName,
      /this one has 256/,
    ],
    [() => client.createConsumerGroup("s", "t", ""), ErrorCode.InvalidConsumerGroupName, /this one has 0/],
    [
      () => client.createUser({ username: "\ud800ab", password: "abc" }),
      ErrorCode.InvalidUsername,
      /text of UTF-8/,
    ],
  ];
  for (const [call, code, message] of refused) {
    await assert.rejects(call(), (error) => {
      assert.ok(isCodedError(error, code), String(error));
      assert.match(error.message, message);
      return true;
    });
  }
  assert.equal(server.requests.length, sent, "nothing was sent");
  await client.close();
});

test("options of producers and consumers are refused by their name where they are made", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  const place = { stream: "s", topic: "t", consumer: "c", group: "g" };
  const refused: readonly (readonly ["producer" | "consumer" | "consumerGroup", unknown, RegExp])[] = [
    ["producer", undefined, /^The options of a producer are an object, not undefined/],
    ["producer", { topic: "t" }, /^stream of a producer is undefined; it must be an id/],
    ["producer", { ...place, lingerMs: "5" }, /^lingerMs of a producer is a string; it must be a number/],
    ["producer", { ...place, partitioning: "random" }, /^partitioning is "balanced"/],
    ["producer", { ...place, stream: "" }, /^A name in an identifier is 1 to 255 bytes/],
    ["consumer", { ...place, consumer: undefined }, /^consumer of a consumer is undefined/],
    ["consumer", { ...place, commit: "never" }, /^commit .* "after-handler" or "auto" or "manual"/],
    ["producer", { ...place, batchLengthMax: 1.5 }, /^batchLengthMax is 1\.5; it is a whole number/],
    ["producer", { ...place, bufferLengthMax: 1.5 }, /^bufferLengthMax is 1\.5; it is a whole number/],
    ["consumer", { ...place, partitions: [] }, /^partitions of a consumer .* one at least, each once/],
    ["consumer", { ...place, partitions: [0, 1, 0] }, /^partitions of a consumer .* one at least, each once/],
    ["consumer", { ...place, partitions: [2 ** 32] }, /^partitions of a consumer .* partition numbers/],
    ["consumer", { ...place, commitCount: 1.5 }, /^commitCount is 1\.5; it is a whole number/],
    ["consumerGroup", { ...place, commitCount: 1.5 }, /^commitCount is 1\.5; it is a whole number/],
    ["consumer", { ...place, partitions: ["0"] }, /^partitions .* an array of partition numbers/],
    ["consumer", { ...place, startAt: "newest" }, /^startAt is "next"/],
    ["consumer", { ...place, signal: new AbortController() }, /^signal .* an AbortSignal/],
    ["consumerGroup", { ...place, startAt: "next" }, /^startAt of a group consumer .* "first" or "last"/],
    ["consumerGroup", { ...place, group: "\ud800" }, /^A name in an identifier/],
  ];
  for (const [method, options, message] of refused) {
    assert.throws(
      () => client[method](options as never),
      (error) => isCodedError(error) && message.test(error.message),
      String(message),
    );
  }
  const consumer = client.consumer(place);
  await assert.rejects(consumer.run("no function" as never), /^InvalidArgument: A handler is a function/);
  await assert.rejects(
    consumer.run(() => {}, { onError: "ignore" as never }),
    /^InvalidArgument: onError is/,
  );
  for (const [retry, message] of [
    [{ attempts: Number.NaN, delayMs: 0 }, /^InvalidArgument: onError\.retry\.attempts is NaN; /],
    [{ attempts: -1, delayMs: 0 }, /^InvalidArgument: onError\.retry\.attempts is -1; .* at least 0/],
    [{ attempts: 0.5, delayMs: 0 }, /^InvalidArgument: onError\.retry\.attempts is 0\.5; .* whole number/],
    [{ attempts: 1, delayMs: Number.NaN }, /^InvalidArgument: onError\.retry\.delayMs is NaN; /],
    [{ attempts: 1, delayMs: -1 }, /^InvalidArgument: onError\.retry\.delayMs is -1; /],
  ] as const) {
    await assert.rejects(
      consumer.run(() => {}, { onError: { retry } }),
      message,
    );
  }
  await client.close();
});

const NOT_JSON = "this is a secret";

test("a message that cannot be read is named by partition and offset, with the cause and without its bytes", async () => {
  const server = new FakeServer();
  const topic = new FakeTopic(2);
  server.script = topic.script;
  topic.append(1, ["{}", NOT_JSON]);
  const client = await server.connect();
  const { messages } = await client.pollMessages({ ...OFFSET, partitionId: 1, startAt: "first" });
  const [good, bad] = messages;
  assert.ok(good && bad);
  assert.deepEqual(good.json(), {});
  assert.throws(
    () => bad.json(),
    (error) => {
      assert.ok(isCodedError(error, ErrorCode.CannotReadMessagePayload));
      assert.deepEqual(error.details, { partitionId: 1, offset: 1n });
      assert.match(error.message, /message 1 of partition 1 is not JSON/);
      assert.ok(!error.message.includes("secret"));
      assert.ok(error.cause instanceof SyntaxError);
      return true;
    },
  );
  bad.payload[0] = 0xff;
  for (const read of [() => bad.text(), () => bad.json()]) {
    assert.throws(read, (error) => {
      assert.ok(isCodedError(error, ErrorCode.CannotReadMessagePayload));
      assert.match(error.message, /is not UTF-8/);
      return error.cause instanceof TypeError;
    });
  }
  await client.close();
});

test("text with half a surrogate pair is refused, as payload, key and header, and its neighbours are sent", async () => {
  const server = new FakeServer();
  const topic = new FakeTopic(1);
  server.script = topic.script;
  const client = await server.connect();
  const producer = client.producer({ stream: "s", topic: "t" });
  const half = "half a \ud83d";
  const sends = [
    producer.send({ payload: "before" }),
    producer.send({ payload: half }),
    producer.send({ payload: "x", key: half }),
    producer.send({ payload: "x", headers: { mood: half } }),
    producer.send({ payload: "x", headers: { [half]: "x" } }),
    producer.send({ payload: { json: half } }),
    producer.send({ payload: "\u{1f600}" }),
  ];
  const codes = (await Promise.allSettled(sends)).map((result) =>
    result.status === "rejected" ? result.reason.code : 0,
  );
  const { InvalidUtf8, InvalidHeaderValue, InvalidHeaderKey } = ErrorCode;
  assert.deepEqual(codes, [0, InvalidUtf8, InvalidUtf8, InvalidHeaderValue, InvalidHeaderKey, 0, 0]);
  await assert.rejects(sends[1] as Promise<unknown>, /The payload holds half a surrogate pair at index 7/);
  await assert.rejects(sends[3] as Promise<unknown>, /Header "mood": .* text of 1 to 255 bytes of UTF-8/);
  assert.deepEqual(topic.texts(), ["before", String.raw`"half a \ud83d"`, "\u{1f600}"]);
  await client.close();
});
