import assert from "node:assert/strict";
import { it } from "node:test";
import { encodeCreateStream, encodePurgeTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
import { isPartitions, newWriter, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

const NODES = [0, 1, 2] as const;
const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function textsOn(cluster: TestCluster, at: number): Promise<string[]> {
  const client = await cluster.login(at, BigInt(200 + at));
  const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody())));
  return messages.map(({ text }) => text);
}

/** Takes a node's directory away and waits until the others have filled it again. */
async function lose(cluster: TestCluster, at: number, count: number): Promise<void> {
  cluster.wipe(at);
  await cluster.startNode(at);
  const group = await cluster.group(at, 0);
  await cluster.until(() => group.partition?.committedNextOffset === count);
}

it("Nodes that lose their directories one after another are filled by the others, and no cluster forms anew.", async () => {
  const { cluster, client } = await smallCluster();
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
  await cluster.clock.run(1000);
  for (const at of NODES) await lose(cluster, at, 2);
  await cluster.clock.run(5000);
  for (const at of NODES) {
    const { metadata } = cluster.broker(at).shard;
    assert.ok(metadata.view > 0, `node ${at} knows in which view the others are`);
    assert.ok(metadata.commit > 0);
    assert.deepEqual(await textsOn(cluster, at), ["a", "b"], `node ${at}`);
  }
  await cluster.stop();
});

it("A partition whose files are there is never taken for a new one, though no view of its group is.", async () => {
  const { cluster, client, backups } = await smallCluster();
  const [at] = backups;
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
  const before = await cluster.group(at, 0);
  await cluster.until(() => before.partition?.committedNextOffset === 2);
  cluster.kill(at);
  await cluster.nodes[at]?.disk.removeFile("metadata/views.wal");
  await cluster.startNode(at);
  const group = await cluster.group(at, 0);
  assert.notEqual(group.replica?.status, "normal", "it asks the others first");
  await cluster.until(() => group.replica?.status === "normal");
  assert.deepEqual(await textsOn(cluster, at), ["a", "b"]);
  await cluster.stop();
});

it("A node whose newest superblock may be gone asks both others before it acts in a view.", async () => {
  for (const file of ["a", "b"]) {
    const { cluster, client } = await smallCluster();
    await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
    await cluster.clock.run(1000);
    for (const at of NODES) cluster.kill(at);
    cluster.nodes[0]?.disk.flipBit(`metadata/superblock.${file}`, 77);
    const [doubtful, other] = [cluster.openNode(0), cluster.openNode(1)];
    await cluster.clock.run(30_000);
    for (const at of [0, 1])
      assert.equal(cluster.broker(at).shard.metadata.isPrimary, false, `node ${at}, ${file}`);
    await Promise.all([cluster.startNode(2), cluster.drive(doubtful), cluster.drive(other)]);
    await cluster.metadataPrimary();
    await cluster.clock.run(5000);
    for (const at of NODES) assert.deepEqual(await textsOn(cluster, at), ["a", "b"], `node ${at}, ${file}`);
    await cluster.stop();
  }
});

it("A node that lost its directory does not vote for a partition before the others have told it what to respect.", async () => {
  const { cluster, client, primary, backups } = await smallCluster();
  const [late, lost] = backups;
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
  await cluster.clock.run(1000);
  // Now the primary alone holds what it acknowledged.
  cluster.passes = (packet) => !isPartitions(packet);
  cluster.wipe(lost);
  await cluster.startNode(lost);
  await cluster.until(() => cluster.broker(lost).shard.metadata.primary === primary);
  await cluster.group(lost, 0);
  cluster.kill(primary);
  cluster.passes = () => true;
  await cluster.clock.run(30_000);
  for (const at of backups)
    assert.equal(cluster.groupNow(at, 0)?.isPrimary, false, `node ${at} leads nothing`);
  await cluster.startNode(primary);
  for (const at of NODES) {
    const group = await cluster.group(at, 0);
    await cluster.until(
      () => group.replica?.status === "normal" && group.partition?.committedNextOffset === 2,
    );
    assert.deepEqual(await textsOn(cluster, at), ["a", "b"], `node ${at}`);
  }
  await cluster.stop();
});

/** A partition that one of the nodes learned of from a snapshot of the metadata, with a message. */
async function partitionFromSnapshot(): Promise<{ cluster: TestCluster; primary: number; late: number }> {
  const cluster = await TestCluster.start(3, { config: { snapshotEveryOps: 5 } });
  const primary = await cluster.metadataPrimary();
  const late = (primary + 1) % 3;
  const client = await cluster.login(primary);
  cluster.kill(late);
  await cluster.drive(createSmallTopic(client));
  for (let count = 0; count < 10; count += 1) {
    const stream = encodeCreateStream({ name: `passing ${count}`, options: NO_OPTIONS });
    await cluster.drive(client.ok("CreateStream", stream));
  }
  await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
  await cluster.startNode(late);
  const group = await cluster.group(late, 0);
  await cluster.until(() => group.partition?.committedNextOffset === 1);
  return { cluster, primary, late };
}

it("A node that learned of a partition from a snapshot knows after a restart that it forgot nothing of it.", async () => {
  const { cluster, primary, late } = await partitionFromSnapshot();
  const lost = NODES.find((at) => at !== primary && at !== late) ?? 0;
  cluster.kill(late);
  // Whoever forgot hears from both others; of two that forgot neither does.
  cluster.wipe(lost);
  await cluster.startNode(late);
  await cluster.startNode(lost);
  const writer = await newWriter(cluster, NODES);
  await cluster.drive(writer.client.ok("SendMessages", sendBody(["b"])));
  for (const at of NODES) {
    const group = await cluster.group(at, 0);
    await cluster.until(() => group.partition?.committedNextOffset === 2);
    assert.deepEqual(await textsOn(cluster, at), ["a", "b"], `node ${at}`);
  }
  await cluster.stop();
});

it("Who alone holds a partition gives its state also when it ends with a purge that only the others can commit.", async () => {
  const { cluster, client, primary, backups } = await smallCluster();
  const [late, lost] = backups;
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
  await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
  await cluster.drive(client.ok("SendMessages", sendBody(["b"])));
  // What the others lack from the first operation on is only in a state: it was purged here.
  cluster.passes = (packet) => !isPartitions(packet);
  const group = await cluster.group(primary, 0);
  const { op = 0 } = group.replica ?? {};
  void client.command("PurgeTopic", encodePurgeTopic(TOPIC)).catch(() => {});
  await cluster.until(() => group.partition?.lastOp === op + 1);
  cluster.wipe(lost);
  cluster.passes = () => true;
  await cluster.startNode(lost);
  const startMs = cluster.clock.monotonicMs();
  const writer = await newWriter(cluster, NODES);
  await cluster.drive(writer.client.ok("SendMessages", sendBody(["c"])));
  const tookMs = cluster.clock.monotonicMs() - startMs;
  assert.ok(tookMs < 15_000, `it took ${tookMs} ms`);
  for (const at of NODES) {
    await cluster.until(() => cluster.groupNow(at, 0)?.replica?.commit === writer.group.replica?.op);
    assert.deepEqual(await textsOn(cluster, at), ["c"], `node ${at}`);
  }
  await cluster.stop();
});
