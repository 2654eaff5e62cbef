import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { decodeBatchHeader, xxh3_64 } from "@millrace/framing";
import {
  COMMAND_OPERATIONS,
  CommandCode,
  decodePollMessagesReply,
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  NO_OPTIONS,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import { fromHex, goldenCases } from "@millrace/testkit";
import { sealedBatch, sendBody } from "../../testing/test-batches.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../../testing/test-server.ts";
import { storeBody } from "../../testing/test-topics.ts";

async function started(partitionsCount = 1, options: TestServerOptions = {}) {
  const server = await TestServer.start(options);
  const client = await server.login();
  await server.drive(client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS })));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options: NO_OPTIONS };
  await server.drive(client.ok("CreateTopic", encodeCreateTopic(topic)));
  return { server, client };
}

const textsOf = async (client: TestClient, poll: Parameters<typeof pollBody>[0]) =>
  polled(await client.ok("PollMessages", pollBody(poll))).messages.map(({ text }) => text);

/** A batch whose header is right and says that it holds nothing. */
function emptyBatch(): Uint8Array {
  const batch = new Uint8Array(256);
  const view = new DataView(batch.buffer);
  view.setBigUint64(32, 256n, true);
  view.setBigUint64(40, xxh3_64(checksumInput(batch)), true);
  return batch;
}

/** The 44 bytes that the checksum of a batch without frames covers. */
function checksumInput(batch: Uint8Array): Uint8Array {
  return new Uint8Array([...batch.subarray(0, 40), ...batch.subarray(48, 52)]);
}

test("A send is confirmed with stream, topic, partition and base offset, and stands at its op.", async () => {
  const { server, client } = await started();
  const first = await client.command("SendMessages", sendBody(["a", "b"]));
  assert.deepEqual(decodeSendMessagesReply(first.payload), [
    { streamId: 0, topicId: 0, partitionId: 0, baseOffset: 0 },
  ]);
  assert.deepEqual([first.header.op, first.header.commit], [1n, 1n]);
  const second = await client.command("SendMessages", sendBody(["c"], { stream: "s", topic: "t" }));
  assert.equal(decodeSendMessagesReply(second.payload)[0]?.baseOffset, 2);
  const { messages, currentOffset } = polled(await client.ok("PollMessages", pollBody()));
  assert.deepEqual(
    messages.map(({ offset, text }) => `${offset}${text}`),
    ["0a", "1b", "2c"],
  );
  assert.equal(currentOffset, 2);
  await server.stop();
});

test("Polled batches are stamped with partition, offset and the server's time, and their checksums hold.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["a", "b", "c"]));
  const payload = await client.ok(
    "PollMessages",
    pollBody({ strategy: { kind: "offset", offset: 1n }, count: 1 }),
  );
  const { batches } = decodePollMessagesReply(payload);
  const header = decodeBatchHeader(batches);
  assert.deepEqual([header.partitionId, header.baseOffset, header.messageCount], [0, 0, 1]);
  assert.ok(header.baseTimestamp >= server.broker.shard.startedAtMicros);
  const { kernel, pool } = server.broker.shard;
  const lease = pool.allocate(batches.length);
  assert.ok(lease);
  lease.bytes.set(batches);
  assert.equal(kernel.verifyBatch(lease.position, batches.length), undefined);
  lease.release();
  await server.stop();
});

test("Each polling strategy starts where it says.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["0", "1"]));
  await server.platform.clock.run(5);
  const between = BigInt(server.platform.clock.wallMicros());
  await client.ok("SendMessages", sendBody(["2", "3", "4"]));
  assert.deepEqual(await textsOf(client, { strategy: { kind: "first" }, count: 2 }), ["0", "1"]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "last" }, count: 2 }), ["3", "4"]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "last" }, count: 99 }), [
    "0",
    "1",
    "2",
    "3",
    "4",
  ]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "offset", offset: 3n } }), ["3", "4"]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "offset", offset: 5n } }), []);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "offset", offset: 2n ** 64n - 1n } }), []);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "timestamp", micros: between } }), [
    "2",
    "3",
    "4",
  ]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "timestamp", micros: 0n }, count: 1 }), ["0"]);
  const never = { kind: "timestamp", micros: 2n ** 64n - 1n } as const;
  assert.deepEqual(await textsOf(client, { strategy: never }), []);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "next" }, count: 1 }), ["0"]);
  assert.deepEqual(await textsOf(client, { count: 0 }), []);
  await server.stop();
});

test("Auto-commit is seen by the very next poll of the consumer, never moves back, and is per consumer.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["0", "1", "2", "3"]));
  const next = { strategy: { kind: "next" }, count: 2, autoCommit: true } as const;
  assert.deepEqual(await textsOf(client, next), ["0", "1"]);
  assert.deepEqual(await textsOf(client, next), ["2", "3"]);
  assert.deepEqual(await textsOf(client, next), []);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "first" }, count: 1, autoCommit: true }), ["0"]);
  assert.deepEqual(await textsOf(client, next), []);
  const other = { ...next, consumer: { kind: "consumer", id: toIdentifier("other") } } as const;
  assert.deepEqual(await textsOf(client, other), ["0", "1"]);
  await server.stop();
});

test("Two polls that store for one consumer at the same time leave the higher offset.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["0", "1", "2", "3"]));
  const other = await server.login(2n);
  const last = pollBody({ strategy: { kind: "last" }, count: 1, autoCommit: true });
  const first = pollBody({ strategy: { kind: "first" }, count: 1, autoCommit: true });
  await Promise.all([client.ok("PollMessages", last), other.ok("PollMessages", first)]);
  assert.deepEqual(await textsOf(client, { strategy: { kind: "next" } }), []);
  await server.stop();
});

test("A poll with auto-commit takes back no offset that gets its place before its own.", async () => {
  const { server, client } = await started(1, { diskLatencyMaxMs: 3, config: { partitionQueueDepth: 1 } });
  await server.drive(client.ok("SendMessages", sendBody(["0", "1", "2", "3"])));
  const storer = await server.drive(server.login(2n));
  const poller = await server.drive(server.login(3n));
  const first = pollBody({ strategy: { kind: "first" }, count: 1, autoCommit: true });
  const asked = [
    client.ok("SendMessages", sendBody(["4"])),
    storer.ok("StoreConsumerOffset", storeBody(1, 2)),
    poller.ok("PollMessages", first),
  ];
  await server.drive(Promise.all(asked));
  const next = await server.drive(textsOf(client, { strategy: { kind: "next" } }));
  assert.deepEqual(next, ["3", "4"]);
  await server.stop();
});

test("An omitted partition is 0; unknown targets answer the level that missed; undecodable bodies 3.", async () => {
  const { server, client } = await started();
  const code = async (body: Uint8Array) => (await client.command("PollMessages", body)).code;
  assert.equal(polled(await client.ok("PollMessages", pollBody({ partitionId: undefined }))).partitionId, 0);
  assert.equal(await code(pollBody({ stream: toIdentifier("none") })), ErrorCode.StreamIdNotFound);
  assert.equal(await code(pollBody({ topic: toIdentifier(7) })), ErrorCode.TopicIdNotFound);
  assert.equal(await code(pollBody({ partitionId: 7 })), ErrorCode.PartitionNotFound);
  assert.equal(await code(pollBody().slice(0, -1)), ErrorCode.InvalidCommand);
  await server.stop();
});

test("A group poll by someone who is no member answers the sentinel, and nothing without a partition.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["x"]));
  const consumer = { kind: "group", id: toIdentifier("g") } as const;
  const fenced = polled(await client.ok("PollMessages", pollBody({ consumer })));
  assert.deepEqual([fenced.partitionId, fenced.messages.length], [0xffff_ffff, 0]);
  const without = polled(await client.ok("PollMessages", pollBody({ consumer, partitionId: undefined })));
  assert.deepEqual([without.partitionId, without.messages.length], [0, 0]);
  await server.stop();
});

test("Balanced sends take the partitions in turn, a key always goes to the same one.", async () => {
  const { server, client } = await started(3);
  const partitionOf = async (partitioning: Parameters<typeof sendBody>[1] & object) =>
    decodeSendMessagesReply(await client.ok("SendMessages", sendBody(["m"], partitioning)))[0]?.partitionId;
  const turns: (number | undefined)[] = [];
  for (let index = 0; index < 5; index++)
    turns.push(await partitionOf({ partitioning: { kind: "balanced" } }));
  assert.deepEqual(turns, [0, 1, 2, 0, 1]);
  const key = new TextEncoder().encode("user-7");
  const expected = server.broker.shard.keyHash(key) % 3;
  assert.equal(await partitionOf({ partitioning: { kind: "key", key } }), expected);
  assert.equal(await partitionOf({ partitioning: { kind: "key", key } }), expected);
  await server.stop();
});

test("A send to what does not exist answers 20.", async () => {
  const { server, client } = await started();
  const code = async (options: Parameters<typeof sendBody>[1]) =>
    (await client.command("SendMessages", sendBody(["x"], options))).code;
  assert.equal(await code({ stream: 9 }), ErrorCode.ResourceNotFound);
  assert.equal(await code({ topic: "none" }), ErrorCode.ResourceNotFound);
  assert.equal(
    await code({ partitioning: { kind: "partition", partitionId: 1 } }),
    ErrorCode.ResourceNotFound,
  );
  await server.stop();
});

test("A topic without partitions takes no message: 20.", async () => {
  const { server, client } = await started(0);
  for (const partitioning of [{ kind: "balanced" }, { kind: "key", key: new Uint8Array([1]) }] as const) {
    const answer = await client.command("SendMessages", sendBody(["x"], { partitioning }));
    assert.equal(answer.code, ErrorCode.ResourceNotFound);
  }
  await server.stop();
});

test("Every recorded bad batch gets its code and nothing of it is written.", async () => {
  const { server, client } = await started();
  const cases = goldenCases("negative");
  assert.ok(cases.length >= 3);
  for (const one of cases) {
    const batch = fromHex(one.expected_hex ?? "");
    const code = Number(/error (\d+)/.exec(one.input.note)?.[1]);
    const answer = await client.command("SendMessages", sendBody(["a", "b"], { batch }));
    assert.equal(answer.code, code, one.name);
  }
  assert.deepEqual(await textsOf(client, {}), []);
  await server.stop();
});

test("Broken batches get 3, 4027 or 4039, and nothing of them is written.", async () => {
  const { server, client } = await started();
  const broken = (change: (batch: Uint8Array) => Uint8Array | undefined) => {
    const batch = sealedBatch(["abc", "def"]);
    return change(batch) ?? batch;
  };
  const set = (position: number, value: number) => (batch: Uint8Array) => {
    batch[position] = value;
    return undefined;
  };
  const cases: readonly (readonly [string, Uint8Array, number])[] = [
    ["reserved byte of the batch header", broken(set(60, 1)), ErrorCode.InvalidCommand],
    ["reserved byte of a frame", broken(set(256 + 40, 1)), ErrorCode.InvalidCommand],
    ["payload byte", broken(set(256 + 48, 0)), ErrorCode.InvalidMessageChecksum],
    ["batch checksum", broken(set(40, 0)), ErrorCode.InvalidBatchChecksum],
    ["message count", broken(set(48, 1)), ErrorCode.InvalidCommand],
    ["no batch", new Uint8Array(0), ErrorCode.InvalidCommand],
    ["header cut", broken((batch) => batch.slice(0, 100)), ErrorCode.InvalidCommand],
    ["last byte cut", broken((batch) => batch.slice(0, -1)), ErrorCode.InvalidCommand],
    ["bytes behind", broken((batch) => new Uint8Array([...batch, 0])), ErrorCode.InvalidCommand],
    ["no messages", emptyBatch(), ErrorCode.InvalidCommand],
  ];
  for (const [name, batch, code] of cases) {
    const answer = await client.command("SendMessages", sendBody(["x"], { batch, messagesCount: 2 }));
    assert.equal(answer.code, code, name);
  }
  const miscounted = await client.command("SendMessages", sendBody(["a", "b"], { messagesCount: 3 }));
  assert.equal(miscounted.code, ErrorCode.InvalidCommand);
  const metadata = sendBody(["a"]);
  new DataView(metadata.buffer).setUint32(0, 2 ** 31, true);
  assert.equal((await client.command("SendMessages", metadata)).code, ErrorCode.InvalidCommand);
  assert.equal((await client.command("SendMessages", new Uint8Array(3))).code, ErrorCode.InvalidCommand);
  assert.deepEqual(await textsOf(client, {}), []);
  await server.stop();
});

test("A batch whose offset deltas are not 0, 1, 2, ... is refused, however good its checksums, and readers go on.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["before"]));
  const last = [2 ** 32 - 1, 2 ** 32 - 2];
  for (const deltas of [[1, 2], [0, 2], [0, 0], [1, 0], [0, last[0]], last, last.toReversed()]) {
    const batch = withOffsetDeltas(deltas as number[]);
    const answer = await client.command("SendMessages", sendBody(["a", "b"], { batch }));
    assert.equal(answer.code, ErrorCode.InvalidCommand, `${deltas}`);
  }
  await client.ok("SendMessages", sendBody(["a", "b"], { batch: withOffsetDeltas([0, 1]) }));
  assert.deepEqual(await textsOf(client, {}), ["before", "a", "b"]);
  await server.stop();
});

/** Two messages "a" and "b" with these deltas, and checksums that hold. */
function withOffsetDeltas(deltas: readonly number[]): Uint8Array {
  const batch = sealedBatch(["a", "b"]);
  const view = new DataView(batch.buffer);
  const frames = [256, 256 + 49];
  for (const [index, at] of frames.entries()) {
    view.setUint32(at + 24, deltas[index] as number, true);
    view.setBigUint64(at, xxh3_64(batch.subarray(at + 8, at + 49)), true);
  }
  const covered = [...checksumInput(batch), ...frames.flatMap((at) => [...batch.subarray(at, at + 8)])];
  view.setBigUint64(40, xxh3_64(new Uint8Array(covered)), true);
  return batch;
}

test("Sends of one connection that are under way together keep their order, and a poll behind them sees them all.", async () => {
  const { server, client } = await started(1, { diskLatencyMaxMs: 3 });
  const send = COMMAND_OPERATIONS.SendMessages;
  const answers = Array.from({ length: 200 }, (_, index) =>
    client.exchange(client.frame(send, sendBody([`m${index}`]), { request: BigInt(index + 5) })),
  );
  const poll = client.command("PollMessages", pollBody());
  const settled = await server.drive(Promise.all([...answers, poll]));
  settled.slice(0, 200).forEach((answer, index) => {
    assert.equal(answer.code, 0);
    assert.equal(answer.header.request, BigInt(index + 5));
    assert.equal(decodeSendMessagesReply(answer.payload)[0]?.baseOffset, index);
  });
  const { messages } = polled((await poll).payload);
  assert.deepEqual(
    messages.map(({ text }) => text),
    Array.from({ length: 200 }, (_, index) => `m${index}`),
  );
  await server.stop();
});

test("A send that finds no room in time answers 58, and the others go through in order.", async () => {
  const config = { partitionQueueDepth: 1, admissionTimeoutMs: 5, requestsInFlightMax: 64 };
  const { server, client } = await started(1, { config, diskLatencyMaxMs: 4 });
  const sends = Array.from({ length: 40 }, (_, index) =>
    client.exchange(
      client.frame(Operation.SendMessages, sendBody([`m${index}`]), { request: BigInt(index + 1) }),
    ),
  );
  const settled = await server.drive(Promise.all(sends));
  const codes = new Set(settled.map(({ code }) => code));
  assert.deepEqual([...codes].sort(), [0, ErrorCode.TransientNotAccepted]);
  const accepted = settled.filter(({ code }) => code === 0);
  const offsets = accepted.map(({ payload }) => decodeSendMessagesReply(payload)[0]?.baseOffset);
  assert.deepEqual(
    offsets,
    offsets.map((_, index) => index),
  );
  await server.stop();
});

test("A reply holds no more than the longest message; the next poll goes on behind it.", async () => {
  const { server, client } = await started(1, { config: { messageLengthMax: 4096 } });
  for (let index = 0; index < 8; index++) await client.ok("SendMessages", sendBody(["x".repeat(800)]));
  const answer = await client.command("PollMessages", pollBody());
  assert.ok(answer.bytes.length <= 4096);
  const { messages } = polled(answer.payload);
  assert.ok(messages.length >= 3 && messages.length < 8);
  await server.stop();
});

test("A client that never takes its replies is closed after a while, and what they held is free.", async () => {
  const { server, client } = await started();
  const slow = await server.login(2n);
  for (let index = 0; index < 4; index++) await client.ok("SendMessages", sendBody(["x".repeat(500_000)]));
  slow.connection.pause();
  const poll = slow.frame(Operation.NonReplicated, pollBody(), { code: CommandCode.PollMessages });
  for (let index = 0; index < 20; index++) slow.exchange(poll.slice()).catch(() => undefined);
  await server.platform.clock.run(20_000);
  assert.equal(server.broker.shard.connections.count, 2);
  await server.platform.clock.run(60_000);
  assert.equal(server.broker.shard.connections.count, 1);
  await client.ok("Ping");
  await server.stop();
});

test("Before login a long message closes the connection; after login it is welcome.", async () => {
  const { server, client } = await started();
  const stranger = server.connect();
  stranger.sendRaw(stranger.frame(Operation.SendMessages, new Uint8Array(100_000)));
  await server.platform.clock.run(10);
  assert.equal(stranger.isClosed, true);
  await client.ok("SendMessages", sendBody(["x".repeat(100_000)]));
  await server.stop();
});
