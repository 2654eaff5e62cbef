import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster, type TestClusterOptions } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

/** An SDK whose request numbers tell its sends apart. */
const COUNTING_SDK = "millrace-node";
const PARTITIONS = [0, 1, 2];

const bodyOf = (text: string) => sendBody([text], { partitioning: { kind: "balanced" } });
const once = (client: TestClient) => client.command("SendMessages", bodyOf("once"), { request: 1n });

/** A cluster with a client on the node that leads. */
async function started(options: TestClusterOptions = {}) {
  const cluster = await TestCluster.start(3, options);
  const leader = await cluster.metadataPrimary();
  const onLeader = await cluster.login(leader);
  const client = await cluster.login(leader, 20n, COUNTING_SDK);
  return { cluster, leader, onLeader, client };
}

async function storedIn(cluster: TestCluster, client: TestClient): Promise<string[]> {
  const found: string[] = [];
  for (const partitionId of PARTITIONS) {
    const payload = await cluster.drive(client.ok("PollMessages", pollBody({ partitionId, count: 100 })));
    found.push(...polled(payload).messages.map(({ text }) => text));
  }
  return found.sort();
}

const isOpening = (cluster: TestCluster, at: number) =>
  PARTITIONS.map((id) => cluster.groupNow(at, id)?.isOpening === true);

describe("A send without a partition that comes again at a node that opens partitions", () => {
  it("is stored once when the topic is new there.", async () => {
    const { cluster, leader, onLeader, client } = await started();
    const one = [0, 1, 2].find((at) => at !== leader) as number;
    cluster.nodes[one]!.diskLatencyMaxMs = 200;
    await cluster.drive(createSmallTopic(onLeader, {}, 3));
    await cluster.drive(onLeader.ok("SendMessages", bodyOf("turn")));
    assert.equal((await cluster.drive(once(client))).code, 0);
    client.close();
    const elsewhere = await cluster.login(one, 20n, COUNTING_SDK);
    assert.deepEqual(isOpening(cluster, one), [true, true, true]);
    await cluster.drive(once(elsewhere));
    cluster.nodes[one]!.diskLatencyMaxMs = 0;
    await cluster.clock.run(5000);
    assert.equal((await cluster.drive(once(elsewhere))).code, 0);
    assert.deepEqual(await storedIn(cluster, onLeader), ["once", "turn"]);
    await cluster.stop();
  });

  it("is stored once when a replica begins anew there, whose disk was full.", async () => {
    let isFull = false;
    let full = 0;
    const { cluster, leader, onLeader, client } = await started({
      diskFaults: ({ kind, path }, at) =>
        isFull && at === full && kind === "write" && path.startsWith("streams/")
          ? { kind: "error", errno: "ENOSPC" }
          : undefined,
    });
    full = [0, 1, 2].find((at) => at !== leader) as number;
    await cluster.drive(createSmallTopic(onLeader, {}, 3));
    for (const id of PARTITIONS) await cluster.group(full, id);
    await cluster.drive(onLeader.ok("SendMessages", bodyOf("turn")));
    await cluster.clock.run(500);
    isFull = true;
    assert.equal((await cluster.drive(once(client))).code, 0);
    await cluster.clock.run(50);
    assert.equal(cluster.silentGroups(full), 1);
    client.close();
    const elsewhere = await cluster.login(full, 20n, COUNTING_SDK);
    cluster.nodes[full]!.diskLatencyMaxMs = 50;
    isFull = false;
    await cluster.until(() => isOpening(cluster, full).includes(true));
    await cluster.drive(once(elsewhere));
    cluster.nodes[full]!.diskLatencyMaxMs = 0;
    await cluster.clock.run(5000);
    assert.equal((await cluster.drive(once(elsewhere))).code, 0);
    assert.deepEqual(await storedIn(cluster, onLeader), ["once", "turn"]);
    await cluster.stop();
  });
});
