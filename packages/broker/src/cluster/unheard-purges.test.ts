import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { silentAtPrimary } from "../testing/silent-at-primary.ts";
import {
  isPartitions,
  isPartitionsAck,
  newWriter,
  type SmallCluster,
  smallCluster,
} from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const PURGE = encodePurgeTopic({ stream: toIdentifier(0), topic: toIdentifier(0) });
/** An SDK whose request numbers count. */
const COUNTING_SDK = "millrace-node";
/** Simulated milliseconds after which every node has heard everything. */
const SETTLED_MS = 8000;

const codeOf = async (cluster: TestCluster, answer: Promise<{ readonly code: number }>) =>
  (await cluster.drive(answer)).code;

const send = (cluster: TestCluster, client: TestClient, text: string) =>
  codeOf(cluster, client.command("SendMessages", sendBody([text])));

async function textsOf(cluster: TestCluster, client: TestClient): Promise<string[]> {
  const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody())));
  return messages.map(({ text }) => text);
}

/** What is sent once a purge was confirmed is there when everybody has heard of everything. */
async function keepsWhatIsSent({ cluster }: Pick<SmallCluster, "cluster">, client: TestClient) {
  for (let tries = 0; (await send(cluster, client, "b")) !== 0; tries += 1) {
    assert.ok(tries < 1000);
    await cluster.clock.run(10);
  }
  cluster.passes = () => true;
  cluster.delaysOf = () => [1];
  await cluster.clock.run(SETTLED_MS);
  assert.deepEqual(await textsOf(cluster, client), ["b"]);
}

describe("A purge asked of a node whose replica is silent", () => {
  for (const delayMs of [1, 1300, 2900]) {
    it(`takes nothing sent behind its answer where the leader hears ${delayMs} ms late.`, async () => {
      const parts = await silentAtPrimary();
      const { cluster, client, primary, writer } = parts;
      cluster.delaysOf = ({ from, to }) => [from === primary && to === writer.at ? delayMs : 1];
      assert.equal(await codeOf(cluster, client.command("PurgeTopic", PURGE)), 0);
      assert.ok((writer.group.partition?.committedPurgeGeneration ?? 0) > 0, "the leader has it");
      await keepsWhatIsSent(parts, writer.client);
      await cluster.stop();
    });
  }

  it("is not confirmed while the leader has not heard of it, nor when it is asked for again.", async () => {
    const parts = await silentAtPrimary();
    const { cluster, primary, writer } = parts;
    const client = await cluster.login(primary, 60n, COUNTING_SDK);
    cluster.passes = ({ from, to }) => from !== primary || to !== writer.at;
    const request = client.nextNumber;
    const begunMs = cluster.clock.monotonicMs();
    const first = await codeOf(cluster, client.command("PurgeTopic", PURGE));
    assert.equal(first, ErrorCode.TransientNotCommitted);
    assert.ok(cluster.clock.monotonicMs() - begunMs < 11_000, "its patience ends");
    const again = await codeOf(cluster, client.command("PurgeTopic", PURGE, { request }));
    assert.notEqual(again, 0, "the reply that the client table holds is no proof");
    cluster.passes = () => true;
    await cluster.clock.run(SETTLED_MS);
    const later = await cluster.login(primary, 60n, COUNTING_SDK);
    assert.equal(await codeOf(cluster, later.command("PurgeTopic", PURGE)), 0);
    await keepsWhatIsSent(parts, writer.client);
    await cluster.stop();
  });
});

describe("A purge in a cluster", () => {
  it("asked of a node whose replica could not be opened waits for the leader's word.", async () => {
    const parts = await smallCluster();
    const { cluster, client: first, primary } = parts;
    await cluster.drive(first.ok("SendMessages", sendBody(["a"])));
    await cluster.clock.run(1000);
    const sick = (primary + 1) % 3;
    cluster.kill(sick);
    cluster.nodes[sick]?.disk.setFaults(({ kind, path }) =>
      kind === "open" && path.endsWith(".ops") ? { kind: "error", errno: "EIO" } : undefined,
    );
    await cluster.startNode(sick);
    cluster.passes = (packet) => isPartitions(packet) || packet.from !== primary;
    await cluster.until(() => cluster.broker(sick).shard.metadata.isPrimary);
    cluster.passes = () => true;
    await cluster.clock.run(1000);
    assert.equal(cluster.groupNow(sick, 0)?.partition, undefined, "it is not open there");
    const writer = await newWriter(cluster, [primary]);
    const client = await cluster.login(sick, 61n);
    cluster.delaysOf = ({ from, to }) => [from === sick && to === primary ? 1300 : 1];
    assert.equal(await codeOf(cluster, client.command("PurgeTopic", PURGE)), 0);
    assert.ok((writer.group.partition?.committedPurgeGeneration ?? 0) > 0, "the leader has it");
    await keepsWhatIsSent(parts, writer.client);
    await cluster.stop();
  });

  it("that waits for another node is not confirmed because a later one was decided on.", async () => {
    const parts = await smallCluster();
    const { cluster, client, primary, backups, groups } = parts;
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    cluster.passes = (packet) => packet.from !== primary || !isPartitions(packet);
    const writer = await newWriter(cluster, backups);
    cluster.passes = () => true;
    await cluster.until(() => groups[primary]?.replica?.primary === writer.at);
    await cluster.clock.run(700);
    assert.equal(await cluster.metadataPrimary(), primary);
    cluster.passes = (packet) => !isPartitionsAck(packet);
    const answered: number[] = [];
    const second = await cluster.login(primary, 62n);
    for (const one of [client, second]) {
      void one.command("PurgeTopic", PURGE).then(({ code }) => answered.push(code));
      await cluster.clock.run(300);
    }
    assert.deepEqual(answered, [], "none is committed");
    cluster.passes = () => true;
    await cluster.until(() => answered.length === 2);
    assert.deepEqual(answered, [0, 0]);
    await keepsWhatIsSent(parts, writer.client);
    await cluster.stop();
  });
});
