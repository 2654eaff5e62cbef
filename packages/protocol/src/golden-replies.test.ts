import assert from "node:assert/strict";
import { test } from "node:test";
import { typedField } from "@millrace/framing";
import { fromHex, goldenCase, goldenCases, toHex } from "@millrace/testkit";
import { ALL_CODECS } from "./all-codecs.compliance.ts";
import { CommandCode } from "./command.table.ts";
import { commandByCode } from "./command.ts";
import { goldenPermissions } from "./golden-values.compliance.ts";
import {
  decodeGetStreamReply,
  decodeGetTopicReply,
  decodeGetTopicsReply,
  decodePollMessagesReply,
  U64_MAX,
} from "./index.ts";

// biome-ignore lint/suspicious/noExplicitAny: the shape of golden inputs differs by command.
type Input = any;

/** All records of the file were made at this moment. */
const CREATED_AT = 1_767_225_600_123_456;
const status = (code: number) => (code === 2 ? "inactive" : "active");
const TRANSPORTS: Readonly<Record<number, string>> = { 1: "tcp", 4: "websocket" };

const clientOf = (input: Input) => ({
  clientId: input.client_id,
  userId: input.user_id === 0xffff_ffff ? undefined : input.user_id,
  transport: TRANSPORTS[input.transport],
  address: input.address,
  groupsCount: input.groups_count ?? input.groups.length,
});
const groupOf = (input: Input) => ({
  id: input.id,
  partitionsCount: input.partitions ?? 3,
  membersCount: Array.isArray(input.members) ? input.members.length : input.members,
  name: input.name,
});
const userOf = (input: Input) => ({
  id: input.id,
  createdAt: CREATED_AT,
  status: status(input.status ?? 1),
  username: input.username,
  options: [],
});

/** The value that a golden input describes completely, by command code. */
const VALUES: Readonly<Record<number, (input: Input) => unknown>> = {
  10: statsOf,
  12: (input) => ({
    name: input.name,
    nodes: input.nodes.map((node: Input) => ({
      name: node.name,
      ip: node.ip,
      tcpPort: node.tcp,
      quicPort: node.quic,
      httpPort: node.http,
      websocketPort: node.websocket,
      role: "leader",
      status: "healthy",
    })),
  }),
  13: (input) =>
    input.options.map((option: Input) => ({
      key: option.key,
      defaultValue:
        option.default_utf8 === undefined
          ? typedField("uint64", BigInt(option.default_u64))
          : typedField("string", option.default_utf8),
      description: option.description,
    })),
  21: (input) => ({
    ...clientOf(input),
    groups: input.groups.map((group: Input) => ({
      streamId: group.stream,
      topicId: group.topic,
      groupId: group.group,
    })),
  }),
  22: (input) => input.clients.map(clientOf),
  31: (input) => ({ ...userOf(input), permissions: goldenPermissions(input.permissions) }),
  32: (input) => input.users.map(userOf),
  41: (input) =>
    input.tokens.map((token: Input) => ({ name: token.name, expiryAt: BigInt(token.expiry_at) })),
  42: (input) => input.token,
  101: (input) =>
    input.confirmations.map((one: Input) => ({
      streamId: one.stream_id,
      topicId: one.topic_id,
      partitionId: one.partition_id,
      baseOffset: Number(one.base_offset),
    })),
  120: (input) => ({
    partitionId: input.partition_id,
    currentOffset: Number(input.current_offset),
    storedOffset: Number(input.stored_offset),
  }),
  201: (input) =>
    input.streams.map((stream: Input) => ({
      id: stream.id,
      createdAt: Number(stream.created_at),
      topicsCount: stream.topics_count,
      byteLength: Number(stream.size),
      messagesCount: Number(stream.messages_count),
      name: stream.name,
      options: [],
    })),
  600: (input) => ({ ...groupOf(input), members: input.members }),
  601: (input) => input.groups.map(groupOf),
  606: (input) => ({ generation: Number(input.generation), partitions: input.partitions }),
};

function statsOf(input: Input) {
  return {
    processId: input.process_id,
    cpuUsage: input.cpu_usage,
    totalCpuUsage: input.total_cpu_usage,
    memoryUsage: Number(input.memory_usage),
    totalMemory: Number(input.total_memory),
    availableMemory: Number(input.available_memory),
    runTime: Number(input.run_time),
    startTime: Number(input.start_time),
    readBytes: Number(input.read_bytes),
    writtenBytes: Number(input.written_bytes),
    messagesByteLength: Number(input.messages_size_bytes),
    streamsCount: input.streams_count,
    topicsCount: input.topics_count,
    partitionsCount: input.partitions_count,
    segmentsCount: input.segments_count,
    messagesCount: Number(input.messages_count),
    clientsCount: input.clients_count,
    consumerGroupsCount: input.consumer_groups_count,
    hostname: input.hostname,
    osName: input.os_name,
    osVersion: input.os_version,
    kernelVersion: input.kernel_version,
    serverVersion: input.server_version,
    serverVersionNumber: input.server_semver,
    cacheMetrics: input.cache_metrics.map((cache: Input) => ({
      streamId: cache.stream,
      topicId: cache.topic,
      partitionId: cache.partition,
      hits: Number(cache.hits),
      misses: Number(cache.misses),
      ratio: cache.ratio,
    })),
    threadsCount: input.threads_count,
    freeDiskSpace: Number(input.free_disk_space),
    totalDiskSpace: Number(input.total_disk_space),
  };
}

for (const one of goldenCases("response_body")) {
  const code = one.input.code ?? CommandCode.PollMessages;
  const command = commandByCode(code);
  const codec = command && ALL_CODECS[command.name].reply;
  const payload = fromHex(one.expected_hex ?? "");

  test(`${one.name} is read and written again byte for byte`, () => {
    assert.ok(codec !== undefined);
    assert.equal(toHex(codec.encode(codec.decode(payload))), one.expected_hex);
  });

  const expectedOf = VALUES[code];
  if (expectedOf === undefined) continue;
  test(`${one.name} holds the values of its input`, () => {
    assert.deepEqual(codec?.decode(payload), expectedOf(one.input));
  });
}

const payloadOf = (name: string) => fromHex(goldenCase(name).expected_hex ?? "");

test("a stream brings its topics with explicit and derived options", () => {
  const stream = decodeGetStreamReply(payloadOf("response/get_stream_with_two_topics"));
  assert.deepEqual(
    stream?.topics.map(({ id, name }) => `${name} (id ${id})`),
    goldenCase("response/get_stream_with_two_topics").input.topics,
  );
  const [events] = stream?.topics ?? [];
  assert.deepEqual(events?.explicitOptions, [
    { key: "durability", value: typedField("string", "persisted") },
  ]);
  assert.deepEqual(
    events?.derivedOptions.map(({ key }) => key),
    ["consumer_offset_durability", "segment_size"],
  );
  assert.equal(events?.messageExpiry, U64_MAX);
});

test("a topic brings its partitions", () => {
  const { input } = goldenCase("response/get_topic_two_partitions");
  const topic = decodeGetTopicReply(payloadOf("response/get_topic_two_partitions"));
  assert.deepEqual(
    topic?.partitions,
    input.partitions.map((partition: Input) => ({
      id: partition.id,
      createdAt: CREATED_AT,
      segmentsCount: partition.segments,
      currentOffset: Number(partition.current_offset),
      byteLength: Number(partition.size),
      messagesCount: Number(partition.messages),
    })),
  );
});

test("a list of topics holds as many as it counts", () => {
  assert.equal(decodeGetTopicsReply(payloadOf("response/get_topics_two")).length, 2);
  assert.equal(decodeGetTopicsReply(payloadOf("response/get_topics_none")).length, 0);
});

test("a poll reply is its head and a view of the batches", () => {
  for (const one of goldenCases("response_body").filter(({ name }) => name.startsWith("response/poll"))) {
    const payload = fromHex(one.expected_hex ?? "");
    const reply = decodePollMessagesReply(payload);
    assert.equal(reply.partitionId, one.input.partition_id);
    assert.equal(reply.currentOffset, Number(one.input.current_offset));
    assert.equal(reply.count, one.input.count);
    assert.equal(reply.batches.buffer, payload.buffer);
    assert.equal(reply.batches.length, payload.length - 16);
  }
});
