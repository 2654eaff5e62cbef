import assert from "node:assert/strict";
import { it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { isPartitionsAck } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic, HALF_SEGMENT } from "../testing/test-topics.ts";

const COUNTING_SDK = "millrace-node";
const NODES = [0, 1, 2];
const PARTITIONS = [0, 1];
const balanced = (text: string) => sendBody([text], { partitioning: { kind: "balanced" } });

async function storedIn(cluster: TestCluster, client: TestClient): Promise<string[]> {
  const found: string[] = [];
  for (const partitionId of PARTITIONS) {
    const payload = await cluster.drive(client.ok("PollMessages", pollBody({ partitionId, count: 100 })));
    found.push(...polled(payload).messages.map(({ text }) => text.slice(0, 4)));
  }
  return found.sort();
}

/** Who leads a partition, once all are led. */
function leaderOf(cluster: TestCluster, partition: number): Promise<number> {
  const leads = (id: number) => NODES.find((at) => cluster.groupNow(at, id)?.isPrimary === true);
  return cluster
    .until(() => (PARTITIONS.every((id) => leads(id) !== undefined) ? String(leads(partition)) : undefined))
    .then(Number);
}

it("A send that comes again at a leader which has not heard yet what is committed is stored once.", async () => {
  const cluster = await TestCluster.start(3);
  const old = await cluster.metadataPrimary();
  const root = await cluster.login(old);
  await cluster.drive(createSmallTopic(root, {}, 2));
  for (const at of NODES) for (const id of PARTITIONS) await cluster.group(at, id);
  await cluster.until(() => PARTITIONS.every((id) => cluster.groupNow(old, id)?.isPrimary));
  const client = await cluster.login(old, 20n, COUNTING_SDK, "next-request=1");
  assert.equal(
    (await cluster.drive(client.command("SendMessages", balanced("once"), { request: 1n }))).code,
    0,
  );
  await cluster.clock.run(1500);
  const isIn = (id: number) => (cluster.groupNow(old, id)?.partition?.committedOp ?? 0) > 0;
  const partitionId = PARTITIONS.find(isIn) ?? assert.fail();
  cluster.passes = (packet) => !isPartitionsAck(packet);
  const big = sendBody([HALF_SEGMENT], { partitioning: { kind: "partition", partitionId } });
  for (let count = 0; count < 3; count += 1) root.command("SendMessages", big).catch(() => {});
  await cluster.clock.run(1000);
  for (const at of NODES) cluster.kill(at);
  for (const at of NODES) await cluster.startNode(at);
  const leader = await leaderOf(cluster, partitionId);
  assert.equal(cluster.groupNow(leader, partitionId)?.isAhead, true);
  const again = await cluster.login(leader, 20n, COUNTING_SDK, "next-request=2");
  const turn = await cluster.login(leader, 301n);
  turn.command("SendMessages", balanced("turn")).catch(() => {});
  await cluster.clock.run(20);
  const repeated = () => cluster.drive(again.command("SendMessages", balanced("once"), { request: 1n }));
  assert.equal((await repeated()).code, ErrorCode.TransientNotAccepted);
  cluster.passes = () => true;
  await cluster.until(() => cluster.groupNow(leader, partitionId)?.isAhead === false);
  await cluster.clock.run(3000);
  assert.equal((await repeated()).code, 0);
  const found = await storedIn(cluster, await cluster.login(leader, 300n));
  assert.equal(found.filter((text) => text === "once").length, 1);
  await cluster.stop();
});
