import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import {
  decodeCreateStreamReply,
  decodeCreateTopicReply,
  decodeDescribeOptionsReply,
  decodeGetClientReply,
  decodeGetClientsReply,
  decodeGetMeReply,
  decodeGetStatsReply,
  decodeGetStreamReply,
  decodeGetStreamsReply,
  decodeGetTopicReply,
  decodeGetTopicsReply,
  encodeCreatePartitions,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeletePartitions,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeDescribeOptions,
  encodeGetClient,
  encodeGetStream,
  encodeGetTopic,
  encodeGetTopics,
  encodePurgeStream,
  encodePurgeTopic,
  encodeUpdateStream,
  encodeUpdateTopic,
  NO_OPTIONS,
  Operation,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const id = toIdentifier;
const stream = (name: string, options = NO_OPTIONS) => encodeCreateStream({ name, options });
const topic = (name: string, partitionsCount = 1, options: OptionEntries = NO_OPTIONS) =>
  encodeCreateTopic({ stream: id(0), name, partitionsCount, options });
const target = { stream: id(0), topic: id(0) };
const aKey: OptionEntries = [{ key: "no_such_option", value: typedField("string", "x") }];

async function withTopic(server: TestServer): Promise<TestClient> {
  const client = await server.login();
  await client.ok("CreateStream", stream("s"));
  await client.ok("CreateTopic", topic("t", 2));
  return client;
}

test("A list longer than the longest message is refused with 20015, and what is in it can be read one by one.", async () => {
  const server = await TestServer.start({ config: { messageLengthMax: 4096 } });
  const client = await server.login();
  const name = (index: number) => `${index}`.padStart(200, "x");
  for (let index = 0; index < 16; index += 1) {
    await client.ok("CreateStream", encodeCreateStream({ name: name(index), options: NO_OPTIONS }));
    await client.ok("GetStreams");
  }
  await client.ok("CreateStream", encodeCreateStream({ name: name(16), options: NO_OPTIONS }));
  assert.equal((await client.command("GetStreams")).code, ErrorCode.FrameTooLarge);
  await client.ok("GetStream", encodeGetStream({ stream: toIdentifier(16) }));
  await server.stop();
});

test("Streams are created, found by id and name, listed, renamed and deleted.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const created = decodeCreateStreamReply(await client.ok("CreateStream", stream("first")));
  assert.deepEqual([created.id, created.name, created.topicsCount], [0, "first", 0]);
  await client.ok("CreateStream", stream("second"));
  const byName = decodeGetStreamReply(
    await client.ok("GetStream", encodeGetStream({ stream: id("second") })),
  );
  assert.equal(byName?.id, 1);
  const rename = { stream: id(1), name: "renamed", options: NO_OPTIONS };
  await client.ok("UpdateStream", encodeUpdateStream(rename));
  const all = decodeGetStreamsReply(await client.ok("GetStreams"));
  assert.deepEqual(
    all.map(({ name }) => name),
    ["first", "renamed"],
  );
  await client.ok("DeleteStream", encodeDeleteStream({ stream: id(0) }));
  const gone = await client.ok("GetStream", encodeGetStream({ stream: id(0) }));
  assert.equal(gone.length, 0);
  assert.equal(decodeCreateStreamReply(await client.ok("CreateStream", stream("again"))).id, 0);
  await server.stop();
});

test("Stream commands answer 1012, 1009 and 4041.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", stream("s"));
  const code = async (...args: Parameters<TestClient["command"]>) => (await client.command(...args)).code;
  assert.equal(await code("CreateStream", stream("s")), ErrorCode.StreamNameAlreadyExists);
  assert.equal(await code("CreateStream", stream("x", aKey)), ErrorCode.UnsupportedOptionKey);
  const missing = { stream: id(9) };
  assert.equal(await code("DeleteStream", encodeDeleteStream(missing)), ErrorCode.StreamIdNotFound);
  assert.equal(await code("PurgeStream", encodePurgeStream(missing)), ErrorCode.StreamIdNotFound);
  const update = encodeUpdateStream({ ...missing, name: "n", options: NO_OPTIONS });
  assert.equal(await code("UpdateStream", update), ErrorCode.StreamIdNotFound);
  await server.stop();
});

test("A created topic is answered as operation 64 with its partitions, and found afterwards.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", stream("s"));
  const answer = await client.command("CreateTopic", topic("t", 3));
  assert.equal(answer.header.operation, Operation.CreateTopicWithAssignments);
  const created = decodeCreateTopicReply(answer.payload);
  assert.deepEqual(
    created.partitions.map((one) => one.id),
    [0, 1, 2],
  );
  const found = decodeGetTopicReply(
    await client.ok("GetTopic", encodeGetTopic({ stream: id("s"), topic: id("t") })),
  );
  assert.deepEqual([found?.id, found?.partitionsCount, found?.partitions[0]?.segmentsCount], [0, 3, 1]);
  const listed = decodeGetTopicsReply(await client.ok("GetTopics", encodeGetTopics({ stream: id(0) })));
  assert.equal(listed[0]?.name, "t");
  assert.equal(
    decodeGetTopicsReply(await client.ok("GetTopics", encodeGetTopics({ stream: id(7) }))).length,
    0,
  );
  assert.equal((await client.ok("GetTopic", encodeGetTopic({ stream: id(0), topic: id(5) }))).length, 0);
  await server.stop();
});

test("Topic options are kept as explicit and derived, and updated one by one.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", stream("s"));
  const options: OptionEntries = [{ key: "message_expiry", value: typedField("string", "7days") }];
  await client.ok("CreateTopic", topic("t", 1, options));
  const change: OptionEntries = [{ key: "compression_algorithm", value: typedField("string", "gzip") }];
  await client.ok("UpdateTopic", encodeUpdateTopic({ ...target, name: "t2", options: change }));
  const found = decodeGetTopicReply(await client.ok("GetTopic", encodeGetTopic(target)));
  assert.equal(found?.name, "t2");
  assert.equal(found?.messageExpiry, 604_800_000_000n);
  assert.equal(found?.compression, 2);
  assert.deepEqual(
    found?.explicitOptions.map(({ key }) => key),
    ["compression_algorithm", "message_expiry"],
  );
  await server.stop();
});

test("Topic and partition commands answer the codes of the specification.", async () => {
  const server = await TestServer.start();
  const client = await withTopic(server);
  const code = async (...args: Parameters<TestClient["command"]>) => (await client.command(...args)).code;
  assert.equal(await code("CreateTopic", topic("t")), ErrorCode.TopicNameAlreadyExists);
  assert.equal(await code("CreateTopic", topic("x", 1001)), ErrorCode.TooManyPartitions);
  assert.equal(await code("CreateTopic", topic("x", 1, aKey)), ErrorCode.UnsupportedOptionKey);
  const badSize: OptionEntries = [{ key: "segment_size", value: typedField("uint64", 1n) }];
  assert.equal(await code("CreateTopic", topic("x", 1, badSize)), ErrorCode.InvalidOptionValue);
  const tooSmall: OptionEntries = [{ key: "max_topic_size", value: typedField("uint64", 1024n) }];
  assert.equal(await code("CreateTopic", topic("x", 1, tooSmall)), ErrorCode.InvalidTopicSize);
  const lost = { stream: id(0), topic: id(9) };
  assert.equal(await code("DeleteTopic", encodeDeleteTopic(lost)), ErrorCode.TopicIdNotFound);
  assert.equal(await code("PurgeTopic", encodePurgeTopic(lost)), ErrorCode.TopicIdNotFound);
  const update = encodeUpdateTopic({ ...target, name: "t", options: badSize });
  assert.equal(await code("UpdateTopic", update), ErrorCode.UnsupportedOptionKey);
  const partitions = (partitionsCount: number) => ({ ...target, partitionsCount });
  assert.equal(
    await code("CreatePartitions", encodeCreatePartitions(partitions(0))),
    ErrorCode.TooManyPartitions,
  );
  assert.equal(
    await code("DeletePartitions", encodeDeletePartitions(partitions(1001))),
    ErrorCode.TooManyPartitions,
  );
  assert.equal(
    await code("DeletePartitions", encodeDeletePartitions(partitions(3))),
    ErrorCode.InvalidPartitionsCount,
  );
  await server.stop();
});

test("Partitions are added and removed at the end; a send to a removed one answers 20.", async () => {
  const server = await TestServer.start();
  const client = await withTopic(server);
  await client.ok("CreatePartitions", encodeCreatePartitions({ ...target, partitionsCount: 2 }));
  const toThird = sendBody(["x"], { partitioning: { kind: "partition", partitionId: 3 } });
  await client.ok("SendMessages", toThird);
  await client.ok("DeletePartitions", encodeDeletePartitions({ ...target, partitionsCount: 2 }));
  assert.equal((await client.command("SendMessages", toThird)).code, ErrorCode.ResourceNotFound);
  await client.ok("CreatePartitions", encodeCreatePartitions({ ...target, partitionsCount: 2 }));
  const again = polled(await client.ok("PollMessages", pollBody({ partitionId: 3 })));
  assert.deepEqual(again.messages, [], "a partition created again shows nothing of the old one");
  await server.stop();
});

test("A purge empties partitions and offsets start again at 0; counters are zero at the next read.", async () => {
  const server = await TestServer.start();
  const client = await withTopic(server);
  await client.ok("SendMessages", sendBody(["a", "b"]));
  await client.ok("PurgeTopic", encodePurgeTopic(target));
  const found = decodeGetTopicReply(await client.ok("GetTopic", encodeGetTopic(target)));
  assert.deepEqual([found?.messagesCount, found?.byteLength], [0, 0]);
  await client.ok("SendMessages", sendBody(["c"]));
  const { messages } = polled(await client.ok("PollMessages", pollBody()));
  assert.deepEqual(messages, [{ offset: 0, text: "c" }]);
  await client.ok("PurgeStream", encodePurgeStream({ stream: id(0) }));
  assert.deepEqual(polled(await client.ok("PollMessages", pollBody())).messages, []);
  await server.stop();
});

test("A topic deleted and created again under its id shows nothing of the old one, and its files go.", async () => {
  const server = await TestServer.start();
  const client = await withTopic(server);
  await client.ok("SendMessages", sendBody(["old"]));
  await client.ok("DeleteTopic", encodeDeleteTopic(target));
  await client.ok("CreateTopic", topic("t", 1));
  assert.deepEqual(polled(await client.ok("PollMessages", pollBody())).messages, []);
  await server.platform.clock.run(10);
  const folders = await server.platform.disk.readDirectory("streams/0/topics/0/partitions");
  assert.equal(folders.length, 1);
  await server.stop();
});

test("A retried metadata request is answered from the stored reply, byte for byte.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const frame = client.frame(Operation.CreateStream, stream("once"));
  const first = await client.exchange(frame);
  const second = await client.exchange(frame.slice());
  assert.deepEqual(second.bytes, first.bytes);
  assert.equal(decodeGetStreamsReply(await client.ok("GetStreams")).length, 1);
  const rejected = client.frame(Operation.CreateStream, stream("once"), { request: 2n });
  const refusal = await client.exchange(rejected);
  assert.equal(refusal.code, ErrorCode.StreamNameAlreadyExists);
  assert.deepEqual((await client.exchange(rejected.slice())).bytes, refusal.bytes);
  await server.stop();
});

test("Contents add up from partition to topic to stream to stats.", async () => {
  const server = await TestServer.start();
  const client = await withTopic(server);
  await client.ok("SendMessages", sendBody(["a", "b"]));
  await client.ok("SendMessages", sendBody(["c"], { partitioning: { kind: "partition", partitionId: 1 } }));
  const stats = decodeGetStatsReply(await client.ok("GetStats"));
  const found = decodeGetStreamReply(await client.ok("GetStream", encodeGetStream({ stream: id(0) })));
  assert.equal(found?.messagesCount, 3);
  assert.equal(found?.topics[0]?.byteLength, found?.byteLength);
  assert.equal(stats.messagesByteLength, found?.byteLength);
  assert.deepEqual(
    [stats.messagesCount, stats.streamsCount, stats.topicsCount, stats.partitionsCount, stats.clientsCount],
    [3, 1, 1, 2, 1],
  );
  assert.deepEqual([stats.serverVersion, stats.serverVersionNumber], ["0.9.0", 9000]);
  await server.stop();
});

test("GetMe, GetClient and GetClients show connections; an unknown number is nothing.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  server.connect();
  const me = decodeGetMeReply(await client.ok("GetMe"));
  assert.deepEqual([me.userId, me.transport, me.groupsCount], [0, "tcp", 0]);
  const { clientId } = me;
  assert.deepEqual(decodeGetClientReply(await client.ok("GetClient", encodeGetClient({ clientId }))), me);
  const all = decodeGetClientsReply(await client.ok("GetClients"));
  assert.deepEqual(
    all.map(({ userId }) => userId),
    [0, undefined],
  );
  assert.equal((await client.ok("GetClient", encodeGetClient({ clientId: 999 }))).length, 0);
  await server.stop();
});

test("The option catalog of topics is described; those of streams and users are empty, other scopes answer 3.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  const describe = async (scope: "topic" | "stream" | "user") =>
    decodeDescribeOptionsReply(await client.ok("DescribeOptions", encodeDescribeOptions({ scope })));
  const keys = (await describe("topic")).map(({ key }) => key);
  assert.equal(keys.length, 9);
  assert.ok(keys.includes("durability") && keys.includes("consumer_offset_durability"));
  assert.deepEqual(await describe("stream"), []);
  assert.deepEqual(await describe("user"), []);
  assert.equal((await client.command("DescribeOptions", new Uint8Array([9]))).code, ErrorCode.InvalidCommand);
  await server.stop();
});
