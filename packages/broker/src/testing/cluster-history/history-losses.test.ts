import assert from "node:assert/strict";
import { test } from "node:test";
import { TestCluster } from "../test-cluster.ts";
import { createSmallTopic } from "../test-topics.ts";
import { Losses } from "./history-losses.ts";

test("one node may lose something at a time: the next one may when the first takes part again", async () => {
  const cluster = await TestCluster.start();
  const root = await cluster.login(await cluster.metadataPrimary());
  await cluster.drive(createSmallTopic(root));
  const losses = new Losses(cluster);
  assert.ok(losses.mayLose);
  cluster.crash(1, { keep: "none" });
  losses.note();
  assert.equal(losses.mayLose, false);
  const opening = cluster.openNode(1);
  assert.equal(losses.mayLose, false);
  await cluster.drive(opening);
  await cluster.until(() => losses.mayLose);
  // What only ends has its files.
  cluster.kill(2);
  assert.ok(losses.mayLose);
  losses.note();
  assert.equal(losses.mayLose, false);
});
