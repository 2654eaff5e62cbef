import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import { isPartitions, newWriter, smallCluster } from "../testing/small-cluster.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { deleteSegmentsBody, earliestOf, fillSegments } from "../testing/test-topics.ts";

const ONE = deleteSegmentsBody(1);
/** Simulated milliseconds after which every node has heard everything. */
const SETTLED_MS = 3000;

const commandOf = ({ bytes }: Packet) => bytes[60];
const isLog = (packet: Packet) =>
  isPartitions(packet) &&
  [ReplicaCommand.prepare, ReplicaCommand.commit, ReplicaCommand.commits].some(
    (one) => commandOf(packet) === one,
  );
const isQuestion = (packet: Packet) =>
  isPartitions(packet) && commandOf(packet) === ReplicaCommand.forwardedRequest;
const isAnswer = (packet: Packet) =>
  isPartitions(packet) && commandOf(packet) === ReplicaCommand.forwardedReply;

/** A cluster with three sealed segments of two messages each, and a client on a node that leads nothing. */
async function filled({ isHeard = (_: Packet): boolean => true } = {}) {
  const parts = await smallCluster();
  const { cluster, client: onPrimary, backups } = parts;
  const [at] = backups;
  cluster.passes = (packet) => packet.to !== at || isHeard(packet);
  await cluster.drive(fillSegments(onPrimary, 3));
  const client = await cluster.login(at, 70n);
  return { ...parts, at, onPrimary, client };
}

const codeOf = async (cluster: TestCluster, answer: Promise<{ readonly code: number }>) =>
  (await cluster.drive(answer)).code;

const deleteOne = (cluster: TestCluster, client: TestClient, request = client.nextNumber) =>
  codeOf(cluster, client.command("DeleteSegments", ONE, { request }));

/** Offset of the oldest message on each node that runs, once all have heard everything. */
async function earliestEverywhere(cluster: TestCluster): Promise<(number | undefined)[]> {
  await cluster.clock.run(SETTLED_MS);
  const found: (number | undefined)[] = [];
  for (const [at, { isDead }] of cluster.nodes.entries()) {
    if (isDead) continue;
    const reader = await cluster.login(at, BigInt(80 + at));
    found.push(await cluster.drive(earliestOf(reader)));
    reader.close();
  }
  return found;
}

describe("A deletion of segments asked of a node that does not lead the partition", () => {
  it("is done by the node that leads it, and seen at once where it was asked for.", async () => {
    const { cluster, client } = await filled();
    assert.equal(await deleteOne(cluster, client), 0);
    assert.equal(await cluster.drive(earliestOf(client)), 2);
    assert.deepEqual(await earliestEverywhere(cluster), [2, 2, 2]);
    await cluster.stop();
  });

  it("is done where that node knows of no segment yet.", async () => {
    const { cluster, client, at, groups } = await filled({ isHeard: (packet) => !isLog(packet) });
    assert.equal(groups[at]?.partition?.sealedSegments().length, 0);
    const answer = client.command("DeleteSegments", ONE);
    await cluster.clock.run(100);
    cluster.passes = () => true;
    assert.equal(await codeOf(cluster, answer), 0);
    assert.deepEqual(await earliestEverywhere(cluster), [2, 2, 2]);
    await cluster.stop();
  });

  it("is done when that node leads the metadata.", async () => {
    const { cluster, onPrimary, primary, backups } = await filled();
    cluster.passes = (packet) => packet.from !== primary || !isPartitions(packet);
    const writer = await newWriter(cluster, backups);
    cluster.passes = () => true;
    const group = await cluster.group(primary, 0);
    await cluster.until(() => group.replica?.status === "normal" && group.replica.primary === writer.at);
    assert.equal(await deleteOne(cluster, onPrimary), 0);
    assert.deepEqual(await earliestEverywhere(cluster), [2, 2, 2]);
    await cluster.stop();
  });

  it("that did not get there is done by the request that repeats it.", async () => {
    const { cluster, client } = await filled();
    cluster.passes = (packet) => !isQuestion(packet);
    const request = client.nextNumber;
    assert.equal(await deleteOne(cluster, client), ErrorCode.TransientNotCommitted);
    assert.deepEqual(await earliestEverywhere(cluster), [0, 0, 0]);
    cluster.passes = () => true;
    assert.equal(await deleteOne(cluster, client, request), 0);
    assert.deepEqual(await earliestEverywhere(cluster), [2, 2, 2]);
    await cluster.stop();
  });

  for (const isLeaderLost of [false, true]) {
    const next = isLeaderLost ? "the next leader" : "the same leader";
    it(`whose answer was lost is done once when it is repeated to ${next}.`, async () => {
      const { cluster, client, primary, backups } = await filled();
      cluster.passes = (packet) => !isAnswer(packet);
      const request = client.nextNumber;
      assert.equal(await deleteOne(cluster, client), ErrorCode.TransientNotCommitted);
      cluster.passes = () => true;
      if (isLeaderLost) {
        cluster.kill(primary);
        await newWriter(cluster, backups);
        await cluster.clock.run(SETTLED_MS);
      }
      assert.equal(await deleteOne(cluster, client, request), 0);
      assert.ok((await earliestEverywhere(cluster)).every((offset) => offset === 2));
      assert.equal(await deleteOne(cluster, client), 0, "another request is another deletion");
      assert.ok((await earliestEverywhere(cluster)).every((offset) => offset === 4));
      await cluster.stop();
    });
  }

  it("is answered with 58 while nobody leads, and done when it is repeated.", async () => {
    const { cluster, client, primary, at, groups } = await filled();
    cluster.passes = (packet) =>
      !isPartitions(packet) || (packet.from !== primary && commandOf(packet) !== ReplicaCommand.doViewChange);
    await cluster.until(() => groups[at]?.replica?.status === "view-change");
    const request = client.nextNumber;
    assert.equal(await deleteOne(cluster, client), ErrorCode.TransientNotAccepted);
    assert.equal(await cluster.metadataPrimary(), primary);
    cluster.passes = () => true;
    await newWriter(cluster, [0, 1, 2]);
    await cluster.clock.run(SETTLED_MS);
    assert.equal(await deleteOne(cluster, client, request), 0);
    assert.deepEqual(await earliestEverywhere(cluster), [2, 2, 2]);
    await cluster.stop();
  });
});
