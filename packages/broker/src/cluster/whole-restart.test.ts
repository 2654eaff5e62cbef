import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

/** Milliseconds between the starts of two nodes. */
const APART_MS = 300;

describe("A cluster that was stopped as a whole", () => {
  it("takes writes again within three seconds of the start of a majority.", async () => {
    const cluster = await TestCluster.start();
    const client = await cluster.login(await cluster.metadataPrimary());
    await cluster.drive(createSmallTopic(client));
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    for (const at of [0, 1, 2]) cluster.kill(at);
    await cluster.startNode(0);
    await cluster.clock.run(APART_MS);
    await cluster.startNode(1);
    const begunMs = cluster.clock.monotonicMs();
    const groups = await Promise.all([0, 1].map((at) => cluster.group(at, 0)));
    await cluster.until(() => groups.some(({ isPrimary }) => isPrimary));
    await cluster.metadataPrimary();
    const tookMs = cluster.clock.monotonicMs() - begunMs;
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
    await cluster.stop();
  });
});
