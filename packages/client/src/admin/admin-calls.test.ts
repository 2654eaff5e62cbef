import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldKindName, fieldValue } from "@millrace/framing";
import {
  decodeCreateTopic,
  decodeDeleteSegments,
  decodeStoreConsumerOffset,
  decodeUpdateTopic,
  encodeCreateStreamReply,
  encodeDescribeOptionsReply,
  encodeGetConsumerOffsetReply,
  encodeGetStatsReply,
  Operation,
  U64_MAX,
} from "@millrace/protocol";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";

test("typed options travel under their keys and kinds; raw ones replace them", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  await client
    .createTopic("s", {
      name: "t",
      partitionsCount: 3,
      compression: "gzip",
      messageExpiry: U64_MAX,
      maxTopicSize: "10 GiB",
      segmentSize: 1_048_576,
      durability: "persisted",
      consumerOffsetDurability: "replicated",
      messagesRequiredToSave: 5,
      preallocateSegments: true,
      options: { segment_size: 2_097_152n, extra: "text", raw: { kind: 9, bytes: Uint8Array.of(7) } },
    })
    .catch(() => {});
  const body = decodeCreateTopic(server.received("CreateTopic")[0]?.body ?? new Uint8Array());
  assert.equal(body.partitionsCount, 3);
  assert.deepEqual(body.stream, { kind: "name", name: "s" });
  const sent = body.options.map(({ key, value }) => [key, fieldKindName(value.kind), fieldValue(value)]);
  assert.deepEqual(sent, [
    ["compression_algorithm", "string", "gzip"],
    ["message_expiry", "uint64", U64_MAX],
    ["max_topic_size", "string", "10 GiB"],
    ["segment_size", "uint64", 2_097_152n],
    ["durability", "string", "persisted"],
    ["consumer_offset_durability", "string", "replicated"],
    ["messages_required_to_save", "uint32", 5],
    ["preallocate_segments", "bool", true],
    ["extra", "string", "text"],
    ["raw", "uint8", 7],
  ]);
  await client.updateTopic(1, 2, { name: "u" });
  const update = decodeUpdateTopic(server.received("UpdateTopic")[0]?.body ?? new Uint8Array());
  assert.deepEqual(update.topic, { kind: "numeric", id: 2 });
  assert.deepEqual(update.options, []);
  await client.close();
});

test("records come with bigint for what has 64 bits", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command === "CreateStream") {
      const counts = { topicsCount: 0, byteLength: 2 ** 40, messagesCount: 5 };
      const stream = {
        id: 3,
        createdAt: 1_700_000_000_000_000,
        ...counts,
        name: "s",
        options: [],
        topics: [],
      };
      request.succeed(encodeCreateStreamReply(stream));
    } else if (request.command === "GetConsumerOffset") {
      request.succeed(
        encodeGetConsumerOffsetReply({ partitionId: 1, currentOffset: 2 ** 50, storedOffset: 4 }),
      );
    } else if (request.command === "DescribeOptions") {
      const defaultValue = { kind: 12, bytes: new Uint8Array(8).fill(255) };
      request.succeed(
        encodeDescribeOptionsReply([{ key: "message_expiry", defaultValue, description: "d" }]),
      );
    } else return new FakeTopic(2).script(request);
    return true;
  };
  const client = await server.connect();
  assert.deepEqual(await client.createStream("s"), {
    id: 3,
    name: "s",
    createdAt: 1_700_000_000_000_000n,
    topicsCount: 0,
    size: 2n ** 40n,
    messagesCount: 5n,
    options: {},
    topics: [],
  });
  const topic = await client.getTopic(1, 1);
  assert.equal(topic?.partitions.length, 2);
  assert.equal(topic?.compression, "none");
  assert.equal(topic?.maxTopicSize, 0n);
  const place = { stream: 1, topic: 1, consumer: "c", partitionId: 1 };
  const expected = { partitionId: 1, currentOffset: 2n ** 50n, storedOffset: 4n };
  assert.deepEqual(await client.getConsumerOffset(place), expected);
  assert.deepEqual(await client.describeOptions(), [
    { key: "message_expiry", kind: "uint64", defaultValue: U64_MAX, description: "d" },
  ]);
  await client.close();
});

test("an offset of 64 bits, a group, and a missing partition are written as asked", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  const consumer = { group: "g" };
  await client.storeConsumerOffset({ stream: "s", topic: "1", consumer, partitionId: 7, offset: U64_MAX });
  const body = decodeStoreConsumerOffset(server.received("StoreConsumerOffset")[0]?.body ?? new Uint8Array());
  assert.deepEqual(body, {
    consumer: { kind: "group", id: { kind: "name", name: "g" } },
    stream: { kind: "name", name: "s" },
    topic: { kind: "name", name: "1" },
    partitionId: 7,
    offset: U64_MAX,
    ack: "quorum",
  });
  await client.deleteConsumerOffset({ stream: "s", topic: "t", consumer: 1 });
  await client.close();
});

test("deleting segments is answered under its other name, and a body of 64-bit figures becomes statistics", async () => {
  const server = new FakeServer();
  const figures = Object.fromEntries(
    ["processId", "cpuUsage", "totalCpuUsage", "memoryUsage", "totalMemory", "availableMemory", "runTime"]
      .concat(["startTime", "readBytes", "writtenBytes", "messagesByteLength", "streamsCount", "topicsCount"])
      .concat(["partitionsCount", "segmentsCount", "messagesCount", "clientsCount", "consumerGroupsCount"])
      .concat(["serverVersionNumber", "threadsCount", "freeDiskSpace", "totalDiskSpace"])
      .map((name, index) => [name, index]),
  );
  server.script = (request) => {
    if (request.command === "DeleteSegments") {
      assert.equal(decodeDeleteSegments(request.body).segmentsCount, 2);
      request.succeed(new Uint8Array(0), Operation.TruncatePartition);
    } else if (request.command === "GetStats") {
      const names = {
        hostname: "h",
        osName: "o",
        osVersion: "v",
        kernelVersion: "k",
        serverVersion: "0.9.0",
      };
      const cacheMetrics = [{ streamId: 1, topicId: 2, partitionId: 3, hits: 4, misses: 5, ratio: 0.5 }];
      request.succeed(encodeGetStatsReply({ ...figures, ...names, cacheMetrics } as never));
    } else return false;
    return true;
  };
  const client = await server.connect();
  await client.deleteSegments(1, 1, 0, 2);
  const stats = await client.getStats();
  assert.equal(stats.memoryUsage, 3n);
  assert.equal(stats.messagesSize, 10n);
  assert.equal(stats.streamsCount, 11);
  assert.equal(stats.cacheMetrics[0]?.misses, 5n);
  await client.close();
});
