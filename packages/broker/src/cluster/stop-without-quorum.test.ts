import assert from "node:assert/strict";
import { test } from "node:test";
import { encodePurgeTopic } from "@millrace/protocol";
import { isPartitions, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";

const TOPIC = { stream: { kind: "numeric", id: 0 }, topic: { kind: "numeric", id: 0 } } as const;

test("A node stops although a purge waits for nodes that nothing is heard of, and the purge comes later.", async () => {
  const { cluster, client, primary, groups } = await smallCluster();
  await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
  cluster.passes = (packet) => !isPartitions(packet);
  client.command("PurgeTopic", encodePurgeTopic(TOPIC)).catch(() => undefined);
  await cluster.until(() => groups[primary]?.partition?.purgeGeneration !== 0);
  await cluster.stopNode(primary);
  cluster.passes = () => true;
  await cluster.startNode(primary);
  for (const at of [0, 1, 2]) {
    const group = await cluster.group(at, 0);
    await cluster.until(() => (group.partition?.committedPurgeGeneration ?? 0) > 0);
  }
  assert.equal((await cluster.group(primary, 0)).partition?.messageCount, 0);
  await cluster.stop();
});
