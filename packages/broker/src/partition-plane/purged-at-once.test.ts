import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { DiskCall } from "@millrace/platform/sim";
import {
  decodeGetConsumerOffsetReply,
  decodeGetStatsReply,
  decodeSendMessagesReply,
  encodeGetConsumerOffset,
  encodePurgeTopic,
  type PollingStrategy,
  toIdentifier,
} from "@millrace/protocol";
import { isPartitions, newWriter, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { commit, createGroup, join, pollGroup, stored } from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";
import {
  contentsOf,
  createSmallTopic,
  deleteSegmentsBody,
  fillSegments,
  forgetBody,
  partitionOf,
  storeBody,
} from "../testing/test-topics.ts";

const PARTITIONS = "streams/";
const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };
const PLAIN = { kind: "consumer", id: toIdentifier(7) } as const;
const STRATEGIES: readonly PollingStrategy[] = [
  { kind: "first" },
  { kind: "last" },
  { kind: "next" },
  { kind: "offset", offset: 1n },
  { kind: "timestamp", micros: 0n },
];

/** A disk that has room for the catalog and none for partitions. */
const fullForPartitions = ({ kind, path }: DiskCall) =>
  kind === "write" && path.startsWith(PARTITIONS) ? ({ kind: "error", errno: "ENOSPC" } as const) : undefined;

const offsetOf = async (client: TestClient) =>
  decodeGetConsumerOffsetReply(
    await client.ok(
      "GetConsumerOffset",
      encodeGetConsumerOffset({ ...TOPIC, partitionId: 0, consumer: PLAIN }),
    ),
  )?.storedOffset;

const codeOf = async (answer: Promise<{ readonly code: number }>) => (await answer).code;

/** Three messages read up to the second, by a consumer and by a group of one member; then no room is left. */
async function full(shardsCount?: number) {
  const server = await TestServer.start(shardsCount === undefined ? {} : { shardsCount });
  const client = await server.login();
  await createGroup(client, 1);
  for (const text of ["a", "b", "c"]) await client.ok("SendMessages", sendBody([text]));
  await client.ok("StoreConsumerOffset", storeBody(7, 1));
  await join(client);
  await pollGroup(client, 0, { count: 2 });
  assert.equal(await commit(client, 0, 1), 0);
  assert.deepEqual([await offsetOf(client), await stored(client, 0)], [1, 1]);
  server.platform.disk.setFaults(fullForPartitions);
  assert.equal(await codeOf(client.command("SendMessages", sendBody(["d"]))), ErrorCode.DiskFull);
  return { server, client };
}

/** Nobody is shown anything of what there was, and nothing is written that would outlive the purge. */
async function assertEmpty(client: TestClient): Promise<void> {
  for (const strategy of STRATEGIES) {
    const answer = polled(
      await client.ok("PollMessages", pollBody({ strategy, consumer: PLAIN, autoCommit: true })),
    );
    assert.deepEqual(answer, { partitionId: 0, currentOffset: 0, messages: [] }, strategy.kind);
  }
  assert.deepEqual([await offsetOf(client), await stored(client, 0)], [undefined, undefined]);
  const nothing = { messages: 0, bytes: 0, segments: 1, topicMessages: 0 };
  assert.deepEqual(await contentsOf(client), nothing);
  const stats = decodeGetStatsReply(await client.ok("GetStats"));
  assert.deepEqual([stats.messagesCount, stats.segmentsCount], [0, 1]);
  assert.equal(await codeOf(client.command("StoreConsumerOffset", storeBody(7, 1))), ErrorCode.InvalidOffset);
  assert.equal(
    await codeOf(client.command("DeleteConsumerOffset", forgetBody(7))),
    ErrorCode.ConsumerOffsetNotFound,
  );
}

describe("A purge that was answered while the disk has no room for its record", () => {
  for (const shardsCount of [1, 3]) {
    it(`shows nothing of before on any way, with ${shardsCount} shards.`, async () => {
      const { server, client } = await full(shardsCount);
      await client.ok("PurgeTopic", encodePurgeTopic(TOPIC));
      await assertEmpty(client);
      assert.deepEqual((await pollGroup(client, 0)).messages, []);
      await server.stop();
    });
  }

  it("stays done over a kill and a start on the disk that is still full, and takes nothing that comes then.", async () => {
    const { server, client } = await full();
    await client.ok("PurgeTopic", encodePurgeTopic(TOPIC));
    const disk = server.kill();
    disk.setFaults(fullForPartitions);
    const next = await TestServer.start({ disk });
    const reader = await next.login(2n);
    await assertEmpty(reader);
    disk.setFaults(undefined);
    await reader.command("SendMessages", sendBody(["finds that there is room"]));
    await next.platform.clock.run(1100);
    await reader.command("SendMessages", sendBody(["finds that there is room"]));
    await next.platform.clock.run(10);
    const { messages } = polled(await reader.ok("PollMessages", pollBody()));
    const [sent] = decodeSendMessagesReply(await reader.ok("SendMessages", sendBody(["e"])));
    assert.equal(sent?.baseOffset, messages.length);
    assert.ok(messages.every(({ text }) => text === "finds that there is room"));
    assert.equal(await offsetOf(reader), undefined);
    await reader.ok("StoreConsumerOffset", storeBody(7, sent?.baseOffset ?? -1));
    await next.stop();
  });

  it("leaves no segments to be deleted, and none that is counted.", async () => {
    const server = await TestServer.start();
    const client = await server.login();
    await createSmallTopic(client);
    await fillSegments(client, 2);
    server.platform.disk.setFaults(fullForPartitions);
    assert.equal(await codeOf(client.command("SendMessages", sendBody(["d"]))), ErrorCode.DiskFull);
    await client.ok("PurgeTopic", encodePurgeTopic(TOPIC));
    await client.ok("DeleteSegments", deleteSegmentsBody(2));
    const { firstOffset, sealed } = await partitionOf(client);
    assert.deepEqual([firstOffset, sealed.segmentsCount], [0, 0]);
    assert.equal((await contentsOf(client)).segments, 1);
    await server.stop();
  });
});

describe("A purge in a cluster", () => {
  it("shows nothing of before on a node that has heard of the decision and not of the deed.", async () => {
    const { cluster, client, backups, groups } = await smallCluster();
    const [cutOff] = backups;
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === 1));
    cluster.passes = (packet) => packet.to !== cutOff || !isPartitions(packet);
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    await cluster.clock.run(200);
    const reader = await cluster.login(cutOff, 60n);
    const answer = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
    assert.equal(groups[cutOff]?.partition?.committedNextOffset, 1, "its files do not know");
    assert.deepEqual(answer.messages, []);
    cluster.passes = () => true;
    await cluster.drive(client.ok("SendMessages", sendBody(["b"])));
    await cluster.until(() => groups[cutOff]?.partition?.committedPurgeGeneration !== 0);
    await cluster.until(() => groups[cutOff]?.partition?.committedNextOffset === 1);
    const later = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
    assert.deepEqual(later.messages, [{ offset: 0, text: "b" }]);
    await cluster.stop();
  });

  it("stores no offset of what a node showed that has not heard of it.", async () => {
    const { cluster, client, primary, backups, groups } = await smallCluster();
    const [cutOff] = backups;
    await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
    await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === 2));
    const reader = await cluster.login(cutOff, 60n);
    cluster.passes = (packet) => packet.to !== cutOff;
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    await cluster.drive(client.ok("SendMessages", sendBody(["c"])));
    const poll = pollBody({ consumer: PLAIN, strategy: { kind: "next" }, autoCommit: true });
    const polling = reader.command("PollMessages", poll);
    await cluster.clock.run(100);
    assert.equal(await cluster.drive(offsetOf(client)), undefined, `node ${primary} leads`);
    cluster.passes = () => true;
    await cluster.drive(polling);
    const next = pollBody({ consumer: PLAIN, strategy: { kind: "next" } });
    const { messages } = polled(await cluster.drive(client.ok("PollMessages", next)));
    assert.deepEqual(messages, [{ offset: 0, text: "c" }]);
    await cluster.stop();
  });

  it("takes nothing that is sent behind its answer, also when that comes from a node that is silent.", async () => {
    const { cluster, client, primary, backups, groups } = await smallCluster();
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    cluster.nodes[primary]?.disk.setFaults(fullForPartitions);
    await cluster.drive(client.command("SendMessages", sendBody(["refused"])));
    await cluster.until(() => groups[primary]?.replication?.isStopped === true);
    const writer = await newWriter(cluster, backups);
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    const send = () => cluster.drive(writer.client.command("SendMessages", sendBody(["b"])));
    while ((await send()).code !== 0) await cluster.clock.run(10);
    await cluster.clock.run(5000);
    const { messages } = polled(await cluster.drive(writer.client.ok("PollMessages", pollBody())));
    assert.deepEqual(messages, [{ offset: 0, text: "b" }]);
    await cluster.stop();
  });

  it("is taken up by replicas that a full disk had silenced, before anything that is sent.", async () => {
    const { cluster, client, primary, backups, groups } = await smallCluster();
    // The metadata stays where it is: else the purge is made up for while it moves.
    cluster.losesStandings = true;
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === 1));
    const silenced = [primary, backups[0]];
    for (const at of silenced) cluster.nodes[at]?.disk.setFaults(fullForPartitions);
    const { code } = await cluster.drive(client.command("PurgeTopic", encodePurgeTopic(TOPIC)));
    assert.equal(code, ErrorCode.TransientNotCommitted, "it is decided on, and two of three cannot write it");
    await cluster.until(() => silenced.some((at) => cluster.silentGroups(at) > 0));
    for (const at of silenced) cluster.nodes[at]?.disk.setFaults(undefined);
    await cluster.until(() => silenced.every((at) => cluster.silentGroups(at) === 0));
    cluster.kill(backups[1]);
    const writer = await newWriter(cluster, silenced);
    const send = () => cluster.drive(writer.client.command("SendMessages", sendBody(["b"])));
    const early = await send();
    assert.equal(early.code, ErrorCode.TransientNotAccepted, "the purge is to come first");
    await cluster.clock.run(1000);
    assert.equal((await send()).code, 0);
    await cluster.clock.run(1000);
    const answer = polled(await cluster.drive(writer.client.ok("PollMessages", pollBody())));
    assert.deepEqual(answer.messages, [{ offset: 0, text: "b" }]);
    for (const at of silenced) {
      const { partition, purges } = await cluster.group(at, 0);
      assert.equal(partition?.committedPurgeGeneration, purges.decided, `node ${at}`);
    }
    await cluster.stop();
  });
});
