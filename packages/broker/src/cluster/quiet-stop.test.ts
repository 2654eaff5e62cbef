import assert from "node:assert/strict";
import { test } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

const SENDS = 40;

test("A node that stops while others wait for ops it reads for them says nothing of each.", async () => {
  const lines: Line[] = [];
  const cluster = await TestCluster.start(3, { log: recordedLog(lines) });
  const primary = await cluster.metadataPrimary();
  const behind = (primary + 1) % 3;
  const client = await cluster.login(primary);
  await cluster.drive(createSmallTopic(client));
  for (const at of [0, 1, 2]) await cluster.group(at, 0);
  cluster.passes = ({ from, to }) => from !== behind && to !== behind;
  for (let at = 0; at < SENDS; at += 1) await cluster.drive(client.ok("SendMessages", sendBody([`m${at}`])));
  let asked = 0;
  cluster.passes = ({ bytes }) => {
    if (bytes[60] === ReplicaCommand.requestPrepare) asked += 1;
    return true;
  };
  const node = cluster.nodes[primary];
  assert.ok(node !== undefined);
  node.diskLatencyMaxMs = 400;
  await cluster.until(() => asked > 0);
  await cluster.clock.run(5);
  await cluster.stopNode(primary);
  assert.deepEqual(lines.filter(({ message }) => message.includes("read back")), []); // biome-ignore format: one line
  await cluster.stop();
});
