import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { silentAtPrimary } from "../testing/silent-at-primary.ts";
import { isPartitions, isPartitionsAck, newWriter, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const PURGE = encodePurgeTopic({ stream: toIdentifier(0), topic: toIdentifier(0) });
/** Simulated milliseconds after which every node has heard everything. */
const SETTLED_MS = 8000;

/** Each of these nodes has lost every message of before, and has what was sent behind the purge. */
async function isPurgedFor(cluster: TestCluster, nodes: readonly number[], client: TestClient) {
  await cluster.clock.run(SETTLED_MS);
  for (let tries = 0; (await cluster.drive(client.command("SendMessages", sendBody(["b"])))).code !== 0; ) {
    tries += 1;
    assert.ok(tries < 1000, "the partition takes messages again");
    await cluster.clock.run(10);
  }
  await cluster.clock.run(SETTLED_MS);
  for (const at of nodes) {
    const reader = await cluster.login(at, BigInt(90 + at));
    const { messages } = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
    assert.deepEqual(messages.map(({ text }) => text), ["b"], `on node ${at}`); // biome-ignore format: one line
  }
}

describe("A leader that heard of a purge and is killed before it is committed", () => {
  for (const [asked, knows] of [
    ["from the node that executed it", false],
    ["and executed it too", true],
  ] as const) {
    it(`${asked}, takes it up again, and it is confirmed only then.`, async () => {
      const { cluster, client, primary, writer, backups } = await silentAtPrimary();
      const { at, group } = writer;
      cluster.passes = (packet) =>
        !isPartitionsAck(packet) && (knows || packet.to !== at || isPartitions(packet));
      const answered: number[] = [];
      void client.command("PurgeTopic", PURGE).then(({ code }) => answered.push(code));
      await cluster.until(() => group.purges.decided > 0);
      await cluster.until(() => !knows || (group.partition?.purgeGeneration ?? 0) > 0);
      cluster.kill(at);
      await cluster.clock.run(100);
      await cluster.startNode(at);
      await cluster.clock.run(500);
      assert.deepEqual(answered, [], "nobody can have committed it");
      cluster.passes = () => true;
      await cluster.until(() => answered.length > 0);
      const isCommitted = () =>
        backups.some((one) => (cluster.groupNow(one, 0)?.partition?.committedPurgeGeneration ?? 0) > 0);
      assert.deepEqual(
        [answered, isCommitted()],
        [[0], true],
        "it is asked again, and what is confirmed is committed",
      );
      const next = await newWriter(cluster, backups, { client: 51n });
      await isPurgedFor(cluster, backups, next.client);
      assert.equal(await cluster.metadataPrimary(), primary);
      await cluster.stop();
    });
  }

  it("which it was asked for itself, is done by whoever leads then.", async () => {
    for (const isStartedAgain of [true, false]) {
      const { cluster, client, primary, groups, backups } = await smallCluster();
      await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
      await cluster.clock.run(1000);
      cluster.passes = (packet) => !isPartitions(packet);
      const answered: number[] = [];
      void client.command("PurgeTopic", PURGE).then(
        ({ code }) => answered.push(code),
        () => undefined,
      );
      await cluster.until(() => (groups[primary]?.partition?.purgeGeneration ?? 0) > 0);
      await cluster.clock.run(50);
      cluster.kill(primary);
      assert.deepEqual(answered, []);
      if (isStartedAgain) await cluster.startNode(primary);
      cluster.passes = () => true;
      const nodes = isStartedAgain ? [0, 1, 2] : backups;
      const next = await newWriter(cluster, nodes, { client: 51n });
      await isPurgedFor(cluster, nodes, next.client);
      await cluster.stop();
    }
  });
});
