import assert from "node:assert/strict";
import { test } from "node:test";
import { encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { type Line, recordedLog, recordedMetrics } from "../testing/recorded.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestServer, type TestServerOptions } from "../testing/test-server.ts";
import {
  contentsOf,
  createSmallTopic,
  earliestOf,
  fillSegments,
  forgetBody,
  HALF_SEGMENT,
  partitionOf,
  retentionOf,
  storeBody,
  updateTopic,
} from "../testing/test-topics.ts";

const MIB = 1_048_576;
const HOUR_MS = 3_600_000;
const HOUR_MICROS = HOUR_MS * 1000;
const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function started(options: TestServerOptions = {}) {
  const lines: Line[] = [];
  const { metrics, metric } = recordedMetrics();
  const server = await TestServer.start({ log: recordedLog(lines), metrics, ...options });
  return { server, client: await server.login(), lines, metric, clock: server.platform.clock };
}

test("Expired messages go with their segment at the next look, and counters follow at once.", async () => {
  const { server, client, lines, metric, clock } = await started();
  await createSmallTopic(client, { message_expiry: HOUR_MICROS });
  await fillSegments(client, 2);
  await clock.run(HOUR_MS / 2);
  await fillSegments(client, 1);
  const before = await contentsOf(client);
  assert.deepEqual([before.messages, before.segments], [8, 4]);
  await clock.run(HOUR_MS / 2 - 1000);
  assert.equal(await earliestOf(client), 0, "nothing goes before its time");
  await clock.run(61_000);
  assert.equal(await earliestOf(client), 4);
  const after = await contentsOf(client);
  assert.deepEqual([after.messages, after.segments, after.topicMessages], [4, 2, 4]);
  const removed = lines.filter(({ message }) => message === "Segments were removed.");
  assert.deepEqual(
    removed.map(({ facts }) => [facts["reason"], facts["segments"], facts["messages"], facts["firstOffset"]]),
    [["expiry", 2, 4, 4]],
  );
  assert.equal(metric("retention_segments_expired_total"), 2);
  assert.equal(metric("retention_messages_removed_total"), 4);
  assert.equal(metric("retention_bytes_freed_total"), (before.bytes ?? 0) - (after.bytes ?? 0));
  await server.stop();
});

test("The active segment never expires, however old it is; a send that seals it lets it go.", async () => {
  const { server, client, clock } = await started();
  await createSmallTopic(client, { message_expiry: HOUR_MICROS });
  await client.ok("SendMessages", sendBody([HALF_SEGMENT]));
  await client.ok("SendMessages", sendBody([HALF_SEGMENT]));
  await clock.run(10 * HOUR_MS);
  assert.equal(await earliestOf(client), 0);
  assert.equal((await partitionOf(client)).expired.segmentsCount, 0);
  await client.ok("SendMessages", sendBody(["young"]));
  await clock.run(60_000);
  assert.equal(await earliestOf(client), 2);
  await server.stop();
});

test("The oldest segments go until a partition's share of the size is kept, and no share is below one segment and one message.", async () => {
  const { server, client, lines, clock } = await started({ config: { messageLengthMax: MIB } });
  await createSmallTopic(client, { max_topic_size: 10 * MIB }, 2);
  await fillSegments(client, 7);
  assert.equal((await retentionOf(client)).partitionBudget, BigInt(5 * MIB));
  await clock.run(60_000);
  const sealed = (await partitionOf(client)).sealed;
  assert.ok(sealed.byteLength <= 5 * MIB && sealed.byteLength > 4 * MIB, String(sealed.byteLength));
  assert.equal(await earliestOf(client), 6, "three of seven sealed segments of 1.14 MiB are too many");
  await updateTopic(client, { max_topic_size: MIB });
  const { partitionBudget, isBudgetRaised } = await retentionOf(client);
  assert.deepEqual([partitionBudget, isBudgetRaised], [BigInt(2 * MIB), true]);
  const warned = lines.find(({ message }) => message.startsWith("The size limit of a topic"));
  assert.deepEqual(warned?.facts, {
    streamId: 0,
    topicId: 0,
    maxTopicSize: BigInt(MIB),
    partitions: 2,
    bytesPerPartition: 2 * MIB,
  });
  await clock.run(60_000);
  assert.equal(await earliestOf(client), 12, "the update counts from the next look on");
  assert.deepEqual(
    lines.filter(({ message }) => message === "Segments were removed.").map(({ facts }) => facts["reason"]),
    ["size", "size"],
  );
  await server.stop();
});

test("Of expiry and size the one that takes more counts.", async () => {
  for (const [options, left] of [
    [{ message_expiry: HOUR_MICROS, max_topic_size: 5 * MIB }, 8],
    [{ message_expiry: HOUR_MICROS, max_topic_size: 2 * MIB }, 13],
  ] as const) {
    const { server, client, clock } = await started({ config: { messageLengthMax: MIB } });
    await createSmallTopic(client);
    await fillSegments(client, 4);
    await clock.run(HOUR_MS);
    await fillSegments(client, 3);
    await updateTopic(client, options);
    await clock.run(60_000);
    assert.equal(await earliestOf(client), left);
    await server.stop();
  }
});

test("What a stored offset has not passed stays, is told once with the command that releases it, and goes when it is released.", async () => {
  const { server, client, lines, metric, clock } = await started();
  await createSmallTopic(client, { message_expiry: HOUR_MICROS });
  await fillSegments(client, 5);
  await client.ok("StoreConsumerOffset", storeBody(7, 3));
  await client.ok("StoreConsumerOffset", storeBody(8, 6));
  await clock.run(HOUR_MS + 180_000);
  assert.equal(await earliestOf(client), 4, "what consumer 7 has passed is gone");
  const held = await partitionOf(client);
  assert.deepEqual([held.heldBack.segmentsCount, held.removable.segmentsCount], [3, 0]);
  assert.deepEqual(
    held.holders.map(({ kind, id, offset, segmentsCount, dueSegmentsCount }) => [
      kind,
      id,
      offset,
      segmentsCount,
      dueSegmentsCount,
    ]),
    [
      [1, 7, 3, 3, 3],
      [1, 8, 6, 2, 2],
    ],
  );
  assert.equal(metric("retention_segments_held_back"), 3);
  const told = () => lines.filter(({ message }) => message.startsWith("A stored offset keeps"));
  assert.equal(told().length, 1, "once, not with every look");
  assert.equal(told()[0]?.facts["release"], "millrace consumer-offset delete 7 0 0 0 --kind consumer");
  await client.ok("DeleteConsumerOffset", forgetBody(7));
  await clock.run(60_000);
  assert.equal(told().length, 2, "the next in line is told");
  assert.equal(await earliestOf(client), 6);
  await client.ok("StoreConsumerOffset", storeBody(8, 9));
  await clock.run(60_000);
  assert.equal(await earliestOf(client), 10);
  assert.equal(metric("retention_segments_held_back"), 0);
  await server.stop();
});

test("One op takes 16 segments at most, and the next one follows in the same pass.", async () => {
  const { server, client, lines, clock } = await started();
  await createSmallTopic(client, { message_expiry: HOUR_MICROS });
  await fillSegments(client, 36);
  await clock.run(HOUR_MS + 60_000);
  const removed = lines.filter(({ message }) => message === "Segments were removed.");
  assert.deepEqual(
    removed.map(({ facts }) => facts["segments"]),
    [16, 16, 4],
  );
  assert.equal(await earliestOf(client), 72);
  await server.stop();
});

test("A cleaner that is switched off removes nothing, and says so to who asks.", async () => {
  const { server, client, clock } = await started({
    config: { messageCleaner: { isEnabled: false, intervalMs: 1000 } },
  });
  await createSmallTopic(client, { message_expiry: 1 });
  await fillSegments(client, 2);
  await clock.run(HOUR_MS);
  assert.equal(await earliestOf(client), 0);
  const { isCleanerEnabled, cleanerIntervalMicros, partitions } = await retentionOf(client);
  assert.deepEqual([isCleanerEnabled, cleanerIntervalMicros], [false, 1_000_000]);
  assert.equal(partitions[0]?.removable.segmentsCount, 2);
  await server.stop();
});

test("A partition that takes no writes is left alone until there is space, also when nobody writes, and its reason is told.", async () => {
  const { server, client, clock } = await started();
  await createSmallTopic(client, { message_expiry: HOUR_MICROS });
  await fillSegments(client, 2);
  server.platform.disk.setSpace(0);
  await client.command("SendMessages", sendBody(["refused"]));
  await clock.run(2 * HOUR_MS);
  const partition = await partitionOf(client);
  assert.deepEqual([partition.faultCode, partition.expired.segmentsCount], [20_001, 2]);
  assert.equal(partition.removable.segmentsCount, 0);
  assert.equal(await earliestOf(client), 0);
  server.platform.disk.setSpace(2 ** 30);
  await clock.run(120_000);
  assert.equal(await earliestOf(client), 4);
  await server.stop();
});

test("A purge while segments expire leaves an empty partition that counts from 0.", async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const config = { messageCleaner: { isEnabled: true, intervalMs: 1 } };
    const { server, client, lines } = await started({ seed, diskLatencyMaxMs: 3, config });
    await server.drive(createSmallTopic(client));
    await server.drive(fillSegments(client, 6));
    await server.drive(updateTopic(client, { message_expiry: 1 }));
    await server.platform.clock.run(seed);
    await server.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    assert.deepEqual((await server.drive(contentsOf(client))).messages, 0, `seed ${seed}`);
    await server.drive(client.ok("SendMessages", sendBody(["new"])));
    await server.platform.clock.run(50);
    assert.equal(await server.drive(earliestOf(client)), 0, `seed ${seed}`);
    assert.deepEqual(
      lines.filter(({ level }) => level === "error"),
      [],
    );
    await server.stop();
  }
});
