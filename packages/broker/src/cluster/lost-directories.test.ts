import assert from "node:assert/strict";
import { it } from "node:test";
import { smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const NODES = [0, 1, 2] as const;

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
