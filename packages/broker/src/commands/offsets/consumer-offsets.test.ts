import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  type Consumer,
  decodeGetConsumerOffsetReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../../testing/test-server.ts";

const one: Consumer = { kind: "consumer", id: toIdentifier(1) };
const target = (consumer: Consumer = one, partitionId: number | undefined = 0) => ({
  consumer,
  stream: toIdentifier(0),
  topic: toIdentifier(0),
  partitionId,
});
const store = (offset: bigint, consumer?: Consumer, partitionId?: number) =>
  encodeStoreConsumerOffset({ ...target(consumer, partitionId), offset, ack: "quorum" });

async function started(options: TestServerOptions = {}) {
  const server = await TestServer.start(options);
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  return { server, client };
}

test("An offset is stored, read, moved back and deleted; without one the answer is empty.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["a", "b", "c"]));
  const get = async () =>
    decodeGetConsumerOffsetReply(await client.ok("GetConsumerOffset", encodeGetConsumerOffset(target())));
  assert.equal(await get(), undefined);
  assert.equal((await client.ok("StoreConsumerOffset", store(2n))).length, 0);
  assert.deepEqual(await get(), { partitionId: 0, currentOffset: 2, storedOffset: 2 });
  await client.ok("StoreConsumerOffset", store(0n));
  const next = polled(await client.ok("PollMessages", pollBody({ strategy: { kind: "next" } })));
  assert.deepEqual(
    next.messages.map(({ text }) => text),
    ["b", "c"],
  );
  const remove = encodeDeleteConsumerOffset({ ...target(), ack: "none" });
  await client.ok("DeleteConsumerOffset", remove);
  assert.equal((await client.command("DeleteConsumerOffset", remove)).code, ErrorCode.ConsumerOffsetNotFound);
  assert.equal(await get(), undefined);
  await server.stop();
});

test("A named consumer is stored under the hash of its name, beside numeric ones.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["a", "b"]));
  const named: Consumer = { kind: "consumer", id: toIdentifier("reader") };
  await client.ok("StoreConsumerOffset", store(1n, named));
  const hash = server.broker.shard.keyHash(new TextEncoder().encode("reader"));
  const numeric: Consumer = { kind: "consumer", id: toIdentifier(hash) };
  const body = encodeGetConsumerOffset(target(numeric));
  assert.equal(decodeGetConsumerOffsetReply(await client.ok("GetConsumerOffset", body))?.storedOffset, 1);
  await server.stop();
});

test("Offsets beyond the end answer 4100, new consumers over the limit 3024, known ones go on.", async () => {
  const { server, client } = await started({ config: { consumerOffsetsMax: 2 } });
  const code = async (body: Uint8Array) => (await client.command("StoreConsumerOffset", body)).code;
  assert.equal(await code(store(0n)), ErrorCode.InvalidOffset, "an empty partition has no offset");
  await client.ok("SendMessages", sendBody(["a", "b"]));
  assert.equal(await code(store(2n)), ErrorCode.InvalidOffset);
  assert.equal(await code(store(2n ** 64n - 1n)), ErrorCode.InvalidOffset);
  const consumer = (id: number): Consumer => ({ kind: "consumer", id: toIdentifier(id) });
  assert.equal(await code(store(0n, consumer(1))), 0);
  assert.equal(await code(store(0n, consumer(2))), 0);
  assert.equal(await code(store(0n, consumer(3))), ErrorCode.TooManyConsumerOffsets);
  assert.equal(await code(store(1n, consumer(2))), 0);
  const poll = pollBody({ consumer: consumer(3), autoCommit: true });
  assert.equal((await client.command("PollMessages", poll)).code, ErrorCode.TooManyConsumerOffsets);
  await server.stop();
});

test("Of two new consumers that ask for the last place at once one hears 3024, and its offset is not there.", async () => {
  const { server, client } = await started({ config: { consumerOffsetsMax: 1 } });
  await client.ok("SendMessages", sendBody(["a", "b"]));
  const other = await server.login(2n);
  const consumer = (id: number): Consumer => ({ kind: "consumer", id: toIdentifier(id) });
  const answers = await Promise.all([
    client.command("StoreConsumerOffset", store(1n, consumer(1))),
    other.command("StoreConsumerOffset", store(1n, consumer(2))),
  ]);
  assert.deepEqual(
    answers.map(({ code }) => code),
    [0, ErrorCode.TooManyConsumerOffsets],
  );
  const absent = await client.ok("GetConsumerOffset", encodeGetConsumerOffset(target(consumer(2))));
  assert.equal(absent.length, 0);
  await server.stop();
});

test("Unknown targets answer 20 to writes and their own code to reads; groups answer 5000; other acks 3.", async () => {
  const { server, client } = await started();
  await client.ok("SendMessages", sendBody(["a"]));
  assert.equal(
    (await client.command("StoreConsumerOffset", store(0n, one, 9))).code,
    ErrorCode.ResourceNotFound,
  );
  const lost = encodeGetConsumerOffset(target(one, 9));
  assert.equal((await client.command("GetConsumerOffset", lost)).code, ErrorCode.PartitionNotFound);
  const remove = encodeDeleteConsumerOffset({ ...target(one, 9), ack: "quorum" });
  assert.equal((await client.command("DeleteConsumerOffset", remove)).code, ErrorCode.ResourceNotFound);
  const group: Consumer = { kind: "group", id: toIdentifier("g") };
  const notFound = ErrorCode.ConsumerGroupIdNotFound;
  assert.equal((await client.command("StoreConsumerOffset", store(0n, group))).code, notFound);
  assert.equal(
    (await client.command("GetConsumerOffset", encodeGetConsumerOffset(target(group)))).code,
    notFound,
  );
  const badAck = store(0n);
  badAck[badAck.length - 1] = 2;
  assert.equal((await client.command("StoreConsumerOffset", badAck)).code, ErrorCode.InvalidCommand);
  await server.stop();
});
