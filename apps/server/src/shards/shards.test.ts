import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { baseOffsetAt, batchLengthAt, FrameCursor } from "@millrace/framing";
import {
  decodeGetConsumerOffsetReply,
  decodeGetTopicReply,
  decodePollMessagesReply,
  encodeCreateConsumerGroup,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteTopic,
  encodeGetConsumerOffset,
  encodeGetTopic,
  encodeJoinConsumerGroup,
  encodePollMessages,
  encodePurgeTopic,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";
import { batchBody } from "../testing/batch-body.ts";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";

const SETTINGS = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_MEMORY_POOL_SIZE: "384 MiB",
};
const PARTITIONS = 8;
/** Servers of a test that failed must not keep it from its end. */
const running: ServerProcess[] = [];
const TARGET = { stream: toIdentifier(0), topic: toIdentifier(0) };
/** Beyond what is copied in the tail: this batch stays in the memory of the shard that received it. */
const LONG = new Uint8Array(100_000).fill(7);
const SHORT = new Uint8Array(50).fill(3);

async function started(data: string, shards: number): Promise<{ server: ServerProcess; client: RawClient }> {
  const settings = { ...SETTINGS, MILLRACE_SHARDING_CPU_ALLOCATION: String(shards) };
  const server = new ServerProcess(["--data", data, "--with-default-root-credentials"], settings);
  running.push(server);
  // An id of its own for each run: a number that an id has used before is answered as before.
  const client = new RawClient(await server.port(), BigInt(shards));
  assert.equal((await client.login("iggy", "iggy")).code, 0);
  return { server, client };
}

/** Offsets and payload lengths of what a poll brings. */
async function polledFrom(client: RawClient, partitionId: number, poll: Partial<PollMessages> = {}) {
  const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
  const asked = { consumer, strategy: { kind: "first" }, count: 100, autoCommit: false } as const;
  const body = encodePollMessages({ ...TARGET, ...asked, partitionId, ...poll });
  const { code, payload } = await client.command("PollMessages", body);
  assert.equal(code, 0);
  const { batches } = decodePollMessagesReply(payload);
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const found: string[] = [];
  for (let position = 0; position < batches.length; position += batchLengthAt(view, position)) {
    const cursor = new FrameCursor(batches, position);
    while (cursor.next()) {
      found.push(`${baseOffsetAt(view, position) + cursor.offsetDelta}:${cursor.payload.length}`);
    }
  }
  return found;
}

async function messagesCounts(client: RawClient): Promise<number[]> {
  const { payload } = await client.command("GetTopic", encodeGetTopic(TARGET));
  return decodeGetTopicReply(payload)?.partitions.map(({ messagesCount }) => messagesCount) ?? [];
}

async function fill(client: RawClient): Promise<void> {
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: PARTITIONS, options: NO_OPTIONS };
  assert.equal(
    (await client.command("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }))).code,
    0,
  );
  assert.equal((await client.command("CreateTopic", encodeCreateTopic(topic))).code, 0);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    for (const payloads of [[SHORT, SHORT], [LONG], [SHORT]]) {
      assert.equal((await client.command("SendMessages", batchBody(partition, payloads))).code, 0);
    }
  }
}

const ALL = ["0:50", "1:50", "2:100000", "3:50"];

test("With two shards everything a partition does is done wherever it is, and is there after a kill and a restart with another number.", {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-shards-"));
  try {
    const data = join(folder, "data");
    const { server, client } = await started(data, 2);
    assert.match(server.stderr, /"shards":2,"msg":"Partitions are spread over shards\."/);
    await fill(client);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      assert.deepEqual(await polledFrom(client, partition), ALL);
      const next = { strategy: { kind: "next" }, count: 3, autoCommit: true } as const;
      assert.deepEqual(await polledFrom(client, partition, next), ALL.slice(0, 3));
      assert.deepEqual(await polledFrom(client, partition, next), ALL.slice(3));
    }
    assert.deepEqual(await messagesCounts(client), new Array(PARTITIONS).fill(4));
    await group(client);
    server.signal("SIGKILL");
    await server.exit();

    const again = await started(data, 3);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      assert.deepEqual(await polledFrom(again.client, partition), ALL);
      const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
      const asked = encodeGetConsumerOffset({ ...TARGET, consumer, partitionId: partition });
      const { payload } = await again.client.command("GetConsumerOffset", asked);
      assert.equal(decodeGetConsumerOffsetReply(payload)?.storedOffset, 3);
    }
    assert.equal((await again.client.command("PurgeTopic", encodePurgeTopic(TARGET))).code, 0);
    assert.deepEqual(await messagesCounts(again.client), new Array(PARTITIONS).fill(0));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      assert.deepEqual(await polledFrom(again.client, partition), []);
    }
    assert.equal((await again.client.command("DeleteTopic", encodeDeleteTopic(TARGET))).code, 0);
    again.server.signal("SIGTERM");
    assert.equal(await again.server.exit(), 0, again.server.stderr);
    const left = await readdir(join(data, "streams", "0", "topics", "0", "partitions"));
    assert.deepEqual(left, []);
  } finally {
    for (const server of running) server.signal("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});

/** A group of one member polls every partition and stores an offset in each. */
async function group(client: RawClient): Promise<void> {
  const place = { ...TARGET, group: toIdentifier(0) };
  await client.command("CreateConsumerGroup", encodeCreateConsumerGroup({ ...TARGET, name: "g" }));
  assert.equal((await client.command("JoinConsumerGroup", encodeJoinConsumerGroup(place))).code, 0);
  const consumer = { kind: "group", id: toIdentifier(0) } as const;
  for (let partitionId = 0; partitionId < PARTITIONS; partitionId++) {
    const next = { consumer, strategy: { kind: "next" }, count: 2 } as const;
    assert.deepEqual(await polledFrom(client, partitionId, next), ALL.slice(0, 2));
    const store = encodeStoreConsumerOffset({ ...TARGET, consumer, partitionId, offset: 1n, ack: "quorum" });
    assert.equal((await client.command("StoreConsumerOffset", store)).code, 0);
    assert.deepEqual(await polledFrom(client, partitionId, next), ALL.slice(2));
  }
}
