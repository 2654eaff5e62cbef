import assert from "node:assert/strict";
import { describe, it } from "node:test";
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
});
