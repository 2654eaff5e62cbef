import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

/** A frame arrives after this. */
const LINK_MS = 1;
/** A primary repeats what was not acknowledged after this. */
const REPEAT_MS = 250;

/** Simulated milliseconds from the answer that a topic is there to that of the first send to it. */
async function firstSendMs(diskLatencyMaxMs: number): Promise<number> {
  const cluster = await TestCluster.start(3);
  const primary = await cluster.metadataPrimary();
  const client = await cluster.login(primary);
  for (const [at, node] of cluster.nodes.entries()) {
    if (at !== primary) node.diskLatencyMaxMs = diskLatencyMaxMs;
  }
  await cluster.drive(createSmallTopic(client));
  const begunMs = cluster.clock.monotonicMs();
  await cluster.drive(client.ok("SendMessages", sendBody(["first"])));
  const tookMs = cluster.clock.monotonicMs() - begunMs;
  await cluster.stop();
  return tookMs;
}

/** How many prepares wait for the files of a replica that takes no part any more to be opened. */
async function keptOnceStopped(): Promise<number> {
  const { cluster, client, backups, groups } = await smallCluster();
  const [at] = backups;
  const group = groups[at];
  assert.ok(group !== undefined);
  await group.replication?.stop();
  await group.takeOut()?.close();
  let kept = 0;
  group.afterOpen = () => {
    kept += 1;
  };
  await cluster.drive(client.ok("SendMessages", sendBody(["without it"])));
  await cluster.clock.run(10 * LINK_MS);
  return kept;
}

describe("A topic that a cluster has just made", () => {
  it("takes its first send at once: its other nodes hear of it without waiting for the next broadcast.", async () => {
    const tookMs = await firstSendMs(0);
    assert.ok(tookMs < 10 * LINK_MS, `it took ${tookMs} ms`);
  });

  it("takes its first send as soon as another node has opened its files.", async () => {
    const tookMs = await firstSendMs(8);
    assert.ok(tookMs > 10 * LINK_MS, `the other nodes were still opening it, or ${tookMs} ms is too short`);
    assert.ok(tookMs < REPEAT_MS - 50, `it took ${tookMs} ms`);
  });

  it("has nothing kept for it on a node that takes no part any more.", async () => {
    assert.equal(await keptOnceStopped(), 0);
  });
});
