import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeGetClusterGroupsReply,
  encodeGetClusterGroups,
  type GetClusterGroups,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { TestServer } from "../testing/test-server.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

async function groupsOf(cluster: TestCluster, client: TestClient, asked: GetClusterGroups) {
  return decodeGetClusterGroupsReply(
    await cluster.drive(client.ok("GetClusterGroups", encodeGetClusterGroups(asked))),
  );
}

describe("What a node tells of the groups of its cluster", () => {
  it("is where each node stands in the metadata and in each partition.", async () => {
    const cluster = await TestCluster.start();
    const leader = await cluster.metadataPrimary();
    const client = await cluster.login(leader);
    await cluster.drive(createSmallTopic(client, {}, 3));
    for (const at of [0, 1, 2]) await cluster.group(at, 2);
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    await cluster.clock.run(1000);
    const { nodes, partitions, next } = await groupsOf(cluster, client, { countMax: 10 });
    assert.deepEqual(nodes.map(({ replica }) => replica), [0, 1, 2]); // biome-ignore format: one line
    const [first] = nodes;
    assert.ok(first?.metadata !== undefined && first.metadata.commit > 0);
    for (const { metadata } of nodes) assert.deepEqual(metadata, first.metadata);
    assert.deepEqual(partitions.map(({ partitionId }) => partitionId), [0, 1, 2]); // biome-ignore format: one line
    for (const { standings } of partitions) assert.equal(standings.length, 3);
    const standing = { status: "normal", view: first.metadata.view, op: 1, commit: 1 };
    assert.deepEqual(partitions[0]?.standings, [standing, standing, standing]);
    assert.equal(next, undefined);
    await cluster.stop();
  });

  it("comes page by page, of one topic when that is asked for.", async () => {
    const cluster = await TestCluster.start();
    const client = await cluster.login(await cluster.metadataPrimary());
    await cluster.drive(createSmallTopic(client, {}, 3));
    const first = await groupsOf(cluster, client, { countMax: 2 });
    assert.deepEqual(first.next, { streamId: 0, topicId: 0, partitionId: 1 });
    const second = await groupsOf(cluster, client, { countMax: 2, after: first.next });
    assert.deepEqual(second.partitions.map(({ partitionId }) => partitionId), [2]); // biome-ignore format: one line
    assert.equal(second.next, undefined);
    const stream = { kind: "name", name: "nothing" } as const;
    const wrong = await cluster.drive(
      client.command("GetClusterGroups", encodeGetClusterGroups({ countMax: 2, stream })),
    );
    assert.equal(wrong.code, ErrorCode.StreamIdNotFound);
    await cluster.stop();
  });

  it("has nothing of a node that is gone.", async () => {
    const cluster = await TestCluster.start();
    const leader = await cluster.metadataPrimary();
    const client = await cluster.login(leader);
    await cluster.drive(createSmallTopic(client));
    const gone = (leader + 1) % 3;
    cluster.kill(gone);
    const { nodes, partitions } = await groupsOf(cluster, client, { countMax: 10 });
    assert.equal(nodes[gone]?.metadata, undefined);
    assert.equal(nodes[leader]?.metadata?.status, "normal");
    assert.equal(partitions[0]?.standings[gone], undefined);
    assert.equal(partitions[0]?.standings[leader]?.status, "normal");
    await cluster.stop();
  });

  it("is everything there is on a server that stands alone.", async () => {
    const server = await TestServer.start();
    const client = await server.login();
    await createSmallTopic(client, {}, 3);
    const page = async (asked: GetClusterGroups) =>
      decodeGetClusterGroupsReply(await client.ok("GetClusterGroups", encodeGetClusterGroups(asked)));
    const { nodes, partitions, next } = await page({ countMax: 2 });
    assert.deepEqual([nodes.length, nodes[0]?.metadata?.status], [1, "normal"]);
    assert.deepEqual(partitions.map(({ partitionId }) => partitionId), [0, 1]); // biome-ignore format: one line
    const rest = await page({ countMax: 2, after: next });
    assert.deepEqual([rest.partitions.length, rest.partitions[0]?.partitionId, rest.next], [1, 2, undefined]);
    await server.stop();
  });
});
