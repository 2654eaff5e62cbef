import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import {
  CodedError,
  ErrorCode,
  isCodedError,
  MillraceClient,
  type ReceivedMessage,
  U64_MAX,
} from "./index.ts";
import { RealServer } from "./testing/real-server.test.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

const server = new RealServer();
let client: MillraceClient;

before(async () => {
  await server.start();
  client = await MillraceClient.connect(`iggy://iggy:iggy@${server.address}?reconnection_interval=50ms`);
});
after(async () => {
  await client.close();
  await server.remove();
  assert.deepEqual(unhandled, [], "no promise was rejected without a handler");
});

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const payloads = (count: number) => Array.from({ length: count }, (_, index) => ({ payload: `m${index}` }));

async function newTopic(name: string, partitionsCount = 1) {
  const stream = `stream-${name}`;
  await client.createStream(stream);
  await client.createTopic(stream, { name: "t", partitionsCount });
  return { stream, topic: "t" };
}

test("users: create, log in, may and may not, rename, password, deactivate, delete", async () => {
  const permissions = {
    global: { readStreams: true },
    streams: { 0: { topics: { 1: { pollMessages: true } } } },
  };
  const made = await client.createUser({ username: "ann", password: "first", permissions });
  assert.equal(made.permissions?.global.readStreams, true);
  assert.equal(made.permissions?.streams[0]?.topics[1]?.pollMessages, true);
  assert.deepEqual(await client.getUser(made.id), made);
  assert.deepEqual(
    (await client.getUsers()).map(({ username }) => username),
    ["iggy", "ann"],
  );
  await assert.rejects(
    client.createUser({ username: "ann", password: "other" }),
    hasCode(ErrorCode.UserAlreadyExists),
  );
  const connection = { address: server.address, reconnect: false } as const;
  const ann = await MillraceClient.connect({ ...connection, username: "ann", password: "first" });
  assert.equal(ann.userId, made.id);
  await ann.getStreams();
  await assert.rejects(ann.createStream("hers"), hasCode(ErrorCode.Unauthorized));
  await client.updatePermissions("ann", { global: { manageStreams: true } });
  await ann.createStream("hers");
  await ann.deleteStream("hers");
  await ann.changePassword("ann", { currentPassword: "first", newPassword: "second" });
  await client.updateUser("ann", { username: "anna", status: "inactive" });
  await assert.rejects(
    MillraceClient.connect({ ...connection, username: "anna", password: "second" }),
    hasCode(ErrorCode.InvalidCredentials),
  );
  await client.updateUser("anna", { status: "active" });
  const anna = await MillraceClient.connect({ ...connection, username: "anna", password: "second" });
  await client.deleteUser("anna");
  await assert.rejects(anna.getStreams());
  assert.equal(await client.getUser("anna"), undefined);
  await Promise.all([ann.close(), anna.close()]);
});

test("tokens: log in by option and by connection string, until deleted", async () => {
  const token = await client.createPersonalAccessToken("e2e-token", { expiry: 60_000_000n });
  const [listed] = await client.getPersonalAccessTokens();
  assert.deepEqual([listed?.name, typeof listed?.expiresAt], ["e2e-token", "bigint"]);
  for (const target of [{ address: server.address, token }, `iggy://${token}@${server.address}`]) {
    const other = await MillraceClient.connect(target);
    assert.equal(other.userId, 0);
    await other.close();
  }
  await assert.rejects(
    client.createPersonalAccessToken("e2e-token"),
    hasCode(ErrorCode.PersonalAccessTokenAlreadyExists),
  );
  await client.deletePersonalAccessToken("e2e-token");
  assert.deepEqual(await client.getPersonalAccessTokens(), []);
  await assert.rejects(
    MillraceClient.connect({ address: server.address, token }),
    hasCode(ErrorCode.InvalidPersonalAccessToken),
  );
});

test("the catalog: create, get, list, rename, purge, delete, with exact figures", async () => {
  const stream = await client.createStream("catalog");
  assert.equal(stream.name, "catalog");
  assert.equal(typeof stream.createdAt, "bigint");
  await assert.rejects(client.createStream("catalog"), hasCode(ErrorCode.StreamNameAlreadyExists));
  const topic = await client.createTopic("catalog", {
    name: "t",
    partitionsCount: 2,
    messageExpiry: 60_000_000n,
    durability: "persisted",
  });
  assert.equal(topic.partitions.length, 2);
  assert.equal(topic.messageExpiry, 60_000_000n);
  assert.equal(topic.maxTopicSize, U64_MAX);
  assert.equal(topic.options["durability"], "persisted");
  await client.createPartitions("catalog", "t", 3);
  assert.equal((await client.getTopic(stream.id, topic.id))?.partitionsCount, 5);
  await client.deletePartitions("catalog", "t", 1);
  await client.updateTopic("catalog", "t", { name: "u", messageExpiry: U64_MAX });
  assert.equal(await client.getTopic("catalog", "t"), undefined);
  assert.deepEqual(
    (await client.getTopics("catalog")).map(({ name, partitionsCount }) => [name, partitionsCount]),
    [["u", 4]],
  );
  await client.purgeTopic("catalog", "u");
  await client.deleteSegments("catalog", "u", 0, 1);
  await client.deleteTopic("catalog", "u");
  await client.updateStream("catalog", { name: "renamed" });
  await client.purgeStream("renamed");
  assert.ok((await client.getStreams()).some(({ name }) => name === "renamed"));
  await client.deleteStream("renamed");
  assert.equal(await client.getStream("renamed"), undefined);
  await assert.rejects(client.deleteStream("renamed"), hasCode(ErrorCode.StreamIdNotFound));
  await assert.rejects(
    client.createTopic("nowhere", { name: "t" }),
    (error) => error instanceof CodedError && error.code === ErrorCode.StreamIdNotFound,
  );
});

test("the system: ping, me, clients, statistics, roster, options", async () => {
  await client.ping();
  const me = await client.getMe();
  assert.equal(me.userId, client.userId);
  assert.deepEqual((await client.getClient(me.clientId))?.clientId, me.clientId);
  assert.ok((await client.getClients()).some(({ clientId }) => clientId === me.clientId));
  assert.ok((await client.getStats()).memoryUsage > 0n);
  assert.equal((await client.getClusterMetadata()).nodes.length, 1);
  const options = await client.describeOptions();
  assert.ok(options.some(({ key }) => key === "segment_size"));
  assert.deepEqual(await client.describeOptions("stream"), []);
});

test("one batch there and back: ids, times, headers and payloads of every kind", async () => {
  const place = await newTopic("round-trip");
  const messages = [
    { payload: Uint8Array.of(0, 255), id: 2n ** 128n - 1n, originTimestamp: 1_600_000_000_000_000n },
    {
      payload: "grün",
      originTimestamp: 1_600_000_000_000_001n,
      headers: { exact: 2n ** 63n - 1n, flag: true, ratio: 0.5, text: "x" },
    },
    { payload: { json: { item: "tea" } }, originTimestamp: 1_600_000_000_000_002n },
  ];
  const [confirmation] = await client.sendMessages({ ...place, messages });
  assert.equal(confirmation?.baseOffset, 0n);
  const polled = await client.pollMessages({ ...place, consumer: 1, startAt: "first" });
  assert.equal(polled.currentOffset, 2n);
  const [first, second, third] = polled.messages as [ReceivedMessage, ReceivedMessage, ReceivedMessage];
  assert.equal(first.id, 2n ** 128n - 1n);
  assert.equal(first.originTimestamp, 1_600_000_000_000_000n);
  assert.deepEqual(first.payload, Uint8Array.of(0, 255));
  assert.equal(second.text(), "grün");
  assert.deepEqual(Object.fromEntries(second.headers), messages[1]?.headers);
  assert.deepEqual(third.json(), { item: "tea" });
  assert.equal(third.offset, 2n);
  assert.ok(third.timestamp > 1_700_000_000_000_000n);
  await assert.rejects(
    client.sendMessages({ ...place, partitioning: { partition: 7 }, messages: [{ payload: "x" }] }),
    hasCode(ErrorCode.ResourceNotFound),
  );
  await assert.rejects(
    client.pollMessages({ ...place, partitionId: 7, consumer: 1 }),
    hasCode(ErrorCode.PartitionNotFound),
  );
});

test("every way to start a poll, auto-commit, and offsets by hand", async () => {
  const place = await newTopic("polls");
  await client.sendMessages({ ...place, messages: payloads(10) });
  const poll = async (more: object) =>
    (await client.pollMessages({ ...place, consumer: "c", count: 2, ...more })).messages.map((one) =>
      one.text(),
    );
  assert.deepEqual(await poll({ startAt: "first" }), ["m0", "m1"]);
  assert.deepEqual(await poll({ startAt: "last" }), ["m8", "m9"]);
  assert.deepEqual(await poll({ startAt: { offset: 4n } }), ["m4", "m5"]);
  assert.deepEqual(await poll({ startAt: { timestamp: 0n } }), ["m0", "m1"]);
  assert.deepEqual(await poll({ autoCommit: true }), ["m0", "m1"]);
  assert.deepEqual(await poll({}), ["m2", "m3"]);
  const offsets = { ...place, consumer: "c" };
  assert.equal((await client.getConsumerOffset(offsets))?.storedOffset, 1n);
  await client.storeConsumerOffset({ ...offsets, offset: 7n });
  assert.deepEqual(await poll({}), ["m8", "m9"]);
  await assert.rejects(
    client.storeConsumerOffset({ ...offsets, offset: 99n }),
    hasCode(ErrorCode.InvalidOffset),
  );
  await client.deleteConsumerOffset(offsets);
  assert.equal(await client.getConsumerOffset(offsets), undefined);
  await assert.rejects(client.deleteConsumerOffset(offsets), hasCode(ErrorCode.ConsumerOffsetNotFound));
});

test("a producer by key and a consumer of all partitions: everything once, in the order of its key", async () => {
  const place = await newTopic("by-key", 4);
  const producer = client.producer({ ...place, batchCountMax: 100 });
  for (let index = 0; index < 5000; index += 1) {
    await producer.enqueue({ payload: String(index), key: `key-${index % 17}` });
  }
  await producer.close();
  const consumer = client.consumer({ ...place, consumer: "all" });
  const lastOfKey = new Map<number, number>();
  let count = 0;
  for await (const message of consumer) {
    const index = Number(message.text());
    assert.ok(index > (lastOfKey.get(index % 17) ?? -1));
    lastOfKey.set(index % 17, index);
    count += 1;
    if (count === 5000) break;
  }
  assert.equal(lastOfKey.size, 17);
  assert.equal(client.leasesOut, 0);
});

test("a killed server: the producer goes on in order, the consumer misses nothing", async () => {
  const place = await newTopic("crash");
  const events: string[] = [];
  const onEvent = (facts: unknown) => events.push((facts as { address: string }).address);
  diagnostics.subscribe("millrace:connected", onEvent);
  const producer = client.producer({ ...place, batchCountMax: 50, inFlightMax: 4 });
  let sent = 0;
  const sendSome = async (count: number) => {
    for (const end = sent + count; sent < end; sent += 1) await producer.enqueue({ payload: String(sent) });
  };
  await sendSome(2000);
  const killing = server.kill().then(() => server.start());
  await sendSome(2000);
  await killing;
  await sendSome(2000);
  await producer.close();
  diagnostics.unsubscribe("millrace:connected", onEvent);
  assert.deepEqual(events, [server.address]);

  const consumer = client.consumer({ ...place, consumer: "all" });
  const seen = new Set<number>();
  await consumer.run((message) => {
    const index = Number(message.text());
    assert.equal(index, seen.size, "what was sent again after the crash is there once, in order");
    seen.add(index);
    if (seen.size === 6000) void consumer.close();
  });
  assert.equal(seen.size, 6000);
});

test("a port where nobody listens is named, a wrong password is 42", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  await assert.rejects(MillraceClient.connect(`iggy://iggy:iggy@127.0.0.1:${port}`), (error) => {
    assert.ok(isCodedError(error, ErrorCode.CannotEstablishConnection));
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}`));
    return true;
  });
  const wrong = MillraceClient.connect({ address: server.address, username: "iggy", password: "wrong" });
  await assert.rejects(wrong, hasCode(ErrorCode.InvalidCredentials));
});
