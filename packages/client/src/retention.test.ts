import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SkippedFacts } from "./consumer/consumer-events.ts";
import { MillraceClient } from "./index.ts";
import { RealServer } from "./testing/real-server.test.ts";

const server = new RealServer({ MILLRACE_DATA_MAINTENANCE_MESSAGES_CLEANER_ENABLED: "false" });
let client: MillraceClient;

before(async () => {
  await server.start();
  client = await connect();
});
after(async () => {
  await client.close();
  await server.remove();
});

function connect(): Promise<MillraceClient> {
  return MillraceClient.connect(`iggy://iggy:iggy@${server.address}?reconnection_interval=20ms`);
}

const place = { stream: "short", topic: "t" };

/** Twelve messages, two a segment; the first eight are deleted, so the log begins at 8. */
async function prepare(): Promise<void> {
  await client.createStream("short");
  await client.createTopic("short", { name: "t", options: { segment_size: "1 MiB" } });
  for (let index = 0; index < 12; index++) {
    const payload = new Uint8Array(600_000).fill(index);
    await client.sendMessages({ ...place, partitioning: { partition: 0 }, messages: [{ payload }] });
  }
  await client.deleteSegments("short", "t", 0, 4);
}

/** Reads one message as a plain consumer and as a member of a group. */
async function readFirst(reader: MillraceClient) {
  const found: [offset: bigint, skipped: SkippedFacts[]][] = [];
  for (const consumer of [
    reader.consumer({ ...place, consumer: 7, commit: "manual" }),
    reader.consumerGroup({ ...place, group: "g", commit: "manual" }),
  ]) {
    const skipped: SkippedFacts[] = [];
    consumer.on("skipped", (facts) => skipped.push(facts));
    for await (const message of consumer) {
      found.push([message.offset, skipped]);
      break;
    }
    await consumer.close();
  }
  return found;
}

/** Stores the offset of the fifth message for both: the next one they want is 5. */
async function storeFive(): Promise<void> {
  await client.storeConsumerOffset({ ...place, consumer: 7, offset: 4n });
  const member = client.consumerGroup({ ...place, group: "g", commit: "manual" });
  for await (const _ of member) {
    await client.storeConsumerOffset({ ...place, consumer: { group: "g" }, partitionId: 0, offset: 4n });
    break;
  }
  await member.close();
}

test("Who has read five messages of a log that begins at 8 goes on there at once and hears that three are gone, also after a restart.", async () => {
  await prepare();
  await storeFive();
  const facts = { partitionId: 0, expectedOffset: 5n, foundOffset: 8n, count: 3n };
  for (const restart of [false, true]) {
    if (restart) {
      await server.kill();
      await server.start();
    }
    const reader = await connect();
    const start = Date.now();
    assert.deepEqual(await readFirst(reader), [
      [8n, [facts]],
      [8n, [facts]],
    ]);
    assert.ok(Date.now() - start < 5000, "at once");
    await reader.close();
  }
});

test("Retention of a topic is told with exact numbers, and an offset of a group that nobody runs can be deleted.", async () => {
  const { partitions, ...topic } = await client.getTopicRetention("short", "t");
  assert.deepEqual(topic, {
    isCleanerEnabled: false,
    cleanerInterval: 60_000_000n,
    partitionBudget: 0xffff_ffff_ffff_ffffn,
    isBudgetRaised: false,
  });
  const [partition] = partitions;
  assert.deepEqual(
    [partition?.firstOffset, partition?.faultCode, partition?.holdersCount],
    [8n, undefined, 2],
  );
  assert.deepEqual(partition?.sealed.messagesCount, BigInt((partition?.sealed.segmentsCount ?? 0) * 2));
  assert.deepEqual(
    partition?.holders.map(({ kind, id, name, isOwned, storedOffset }) => [
      kind,
      id,
      name,
      isOwned,
      storedOffset,
    ]),
    [
      ["consumer", 7, undefined, false, 4n],
      ["group", 0, "g", false, 4n],
    ],
  );
  await client.deleteConsumerOffset({ ...place, consumer: { group: 0 }, partitionId: 0 });
  await client.deleteConsumerOffset({ ...place, consumer: 7 });
  assert.deepEqual((await client.getTopicRetention("short", "t")).partitions[0]?.holders, []);
});
