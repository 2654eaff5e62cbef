import assert from "node:assert/strict";
import { test } from "node:test";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { TestCluster } from "../testing/test-cluster.ts";

test("A node that waits for its cluster to form names the others at once, and again every ten seconds.", async () => {
  const lines: Line[] = [];
  const cluster = new TestCluster(3, { log: recordedLog(lines) });
  const said = () =>
    lines.flatMap(({ message, facts }) => (/takes no logins/.test(message) ? [facts["notHeardOf"]] : []));
  await cluster.startNode(0);
  await cluster.clock.run(1000);
  assert.deepEqual(said(), ["n1, n2"]);
  await cluster.clock.run(18_000);
  assert.deepEqual(said(), ["n1, n2", "n1, n2"]);
  await cluster.startNode(1);
  await cluster.clock.run(4000);
  assert.deepEqual(said().slice(-1), ["n2"], "of the first node, which has heard of the second meanwhile");
  await cluster.startNode(2);
  await cluster.metadataPrimary();
  lines.length = 0;
  await cluster.clock.run(30_000);
  assert.deepEqual(said(), []);
  await cluster.stop();
});
