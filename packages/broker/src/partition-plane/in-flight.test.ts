import assert from "node:assert/strict";
import { test } from "node:test";
import { Operation } from "@millrace/protocol";
import { PIPELINE_DEPTH_MAX } from "@millrace/vsr";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { TestServer } from "../testing/test-server.ts";
import { createSmallTopic } from "../testing/test-topics.ts";
import type { PartitionGroup } from "./partition-group.ts";

const SENDS = 400;
const config = { partitionQueueDepth: 1024 };

/** Sends at once, and the most operations of the partition that were in flight while they were confirmed. */
async function mostInFlight(
  client: TestClient,
  group: PartitionGroup,
  drive: <T>(work: Promise<T>) => Promise<T>,
): Promise<number> {
  let most = 0;
  const sends = Array.from({ length: SENDS }, async (_, at) => {
    const frame = client.frame(Operation.SendMessages, sendBody([`m${at}`]), { request: BigInt(at + 10) });
    const { code } = await client.exchange(frame);
    assert.equal(code, 0);
    const { replica } = group;
    most = Math.max(most, (replica?.op ?? 0) - (replica?.commit ?? 0));
  });
  await drive(Promise.all(sends));
  return most;
}

test("A server that stands alone lets as many operations of a partition be in flight as it is told.", async () => {
  const server = await TestServer.start({ config, diskLatencyMaxMs: 5, shardsCount: 1 });
  const client = await server.login(1n);
  await server.drive(createSmallTopic(client));
  const group = server.groupOf(0);
  const most = await mostInFlight(client, group, (work) => server.drive(work));
  assert.ok(most > PIPELINE_DEPTH_MAX, `${most} in flight`);
  await server.stop();
});

test("In a cluster never more are in flight than a view change can name.", async () => {
  const cluster = await TestCluster.start(3, { config });
  const client = await cluster.login(await cluster.metadataPrimary());
  await cluster.drive(createSmallTopic(client));
  const groups = await Promise.all([0, 1, 2].map((at) => cluster.group(at, 0)));
  const at = groups.findIndex(({ isPrimary }) => isPrimary);
  const near = await cluster.login(at);
  const most = await mostInFlight(near, groups[at]!, (work) => cluster.drive(work));
  assert.ok(most > 1 && most <= PIPELINE_DEPTH_MAX, `${most} in flight`);
  await cluster.stop();
});
