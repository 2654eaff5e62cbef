import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  encodeGetConsumerOffset,
  encodePurgeTopic,
  type PollingStrategy,
  toIdentifier,
} from "@millrace/protocol";
import {
  groupsOf,
  isPartitions,
  isPartitionsAck,
  newWriter,
  smallCluster,
} from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { forgetBody, storeBody } from "../testing/test-topics.ts";

const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };
const CONSUMER = { kind: "consumer", id: toIdentifier(7) } as const;
const OFFSET = encodeGetConsumerOffset({ ...TOPIC, partitionId: 0, consumer: CONSUMER });
const NEXT: PollingStrategy = { kind: "next" };
const SDK = "millrace-node";

/**
 * Three messages, read up to the second: the store is confirmed, and the primary dies before anybody hears.
 */
async function confirmedByTheDead() {
  const parts = await smallCluster();
  const { cluster, primary, client, backups } = parts;
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b", "c"])));
  await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 0)));
  await cluster.clock.run(1000);
  await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 1)));
  await cluster.drive(client.ok("StoreConsumerOffset", storeBody(8, 1)));
  const held = await groupsOf(cluster, backups);
  await cluster.until(() => held.every(({ partition }) => partition?.lastOp === 4));
  cluster.kill(primary);
  cluster.passes = (packet) => !isPartitionsAck(packet);
  const writer = await newWriter(cluster, backups);
  assert.equal(writer.group.isSuffixInDoubt, true, "nobody confirms what it took over");
  return { ...parts, writer };
}

async function codeOf(cluster: TestCluster, answer: Promise<{ readonly code: number }>): Promise<number> {
  return (await cluster.drive(answer)).code;
}

const textsOf = async (cluster: TestCluster, client: TestClient, strategy?: PollingStrategy) => {
  const poll = pollBody({ consumer: CONSUMER, ...(strategy && { strategy }) });
  return polled(await cluster.drive(client.ok("PollMessages", poll))).messages.map(({ text }) => text);
};

describe("A new primary whose predecessor confirmed what it cannot confirm yet", () => {
  it("puts off whatever is decided from stored offsets, and then finds them.", async () => {
    const { cluster, writer } = await confirmedByTheDead();
    const { client } = writer;
    const asked = [
      () => client.command("DeleteConsumerOffset", forgetBody(8)),
      () => client.command("GetConsumerOffset", OFFSET),
      () => client.command("StoreConsumerOffset", storeBody(7, 2)),
      () => client.command("PollMessages", pollBody({ consumer: CONSUMER, strategy: NEXT })),
    ];
    for (const ask of asked) assert.equal(await codeOf(cluster, ask()), ErrorCode.TransientNotAccepted);
    cluster.passes = () => true;
    await cluster.until(() => !writer.group.isSuffixInDoubt);
    assert.deepEqual(await textsOf(cluster, client, NEXT), ["c"], "it goes on behind what was stored");
    for (const ask of asked) assert.equal(await codeOf(cluster, ask()), 0);
    assert.equal(writer.group.partition?.consumerOffset(1, 8), undefined);
    await cluster.stop();
  });

  it("goes on to serve messages by their offsets.", async () => {
    const { cluster, writer } = await confirmedByTheDead();
    assert.deepEqual(await textsOf(cluster, writer.client), ["a", "b", "c"]);
    cluster.passes = () => true;
    await cluster.until(() => !writer.group.isSuffixInDoubt);
    await cluster.stop();
  });

  it("does not let an offset be stored while a purge that it took over may still happen.", async () => {
    const { cluster, primary, client, backups } = await smallCluster();
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    await cluster.clock.run(1000);
    const held = await groupsOf(cluster, backups);
    cluster.passes = (packet) => !isPartitionsAck(packet);
    client.command("PurgeTopic", encodePurgeTopic(TOPIC)).catch(() => undefined);
    await cluster.until(() => held.every(({ partition }) => (partition?.purgeGeneration ?? 0) > 0));
    assert.ok(held.every(({ purges }) => purges.isUnderWay));
    cluster.kill(primary);
    const writer = await newWriter(cluster, backups);
    const code = await codeOf(cluster, writer.client.command("StoreConsumerOffset", storeBody(7, 0)));
    assert.equal(code, ErrorCode.TransientNotAccepted);
    cluster.passes = () => true;
    await cluster.until(() => held.every(({ purges }) => !purges.isUnderWay));
    assert.equal(
      await codeOf(cluster, writer.client.command("StoreConsumerOffset", storeBody(7, 0))),
      ErrorCode.InvalidOffset,
    );
    await cluster.stop();
  });
});

describe("A replica that starts behind a purge that may never have been", () => {
  const counting = { client: 40n, sdkName: SDK };

  /** A purge that is in every journal and that nobody confirmed; all nodes are killed. */
  async function killedInAPurge() {
    const parts = await smallCluster();
    const { cluster, primary } = parts;
    const producer = await cluster.login(primary, counting.client, counting.sdkName);
    await cluster.drive(producer.command("SendMessages", sendBody(["a"]), { request: 1n }));
    await cluster.clock.run(1000);
    cluster.passes = (packet) => !isPartitionsAck(packet);
    producer.command("SendMessages", sendBody(["b"]), { request: 2n }).catch(() => undefined);
    parts.client.command("PurgeTopic", encodePurgeTopic(TOPIC)).catch(() => undefined);
    await cluster.until(() => parts.groups.every(({ partition }) => (partition?.purgeGeneration ?? 0) > 0));
    await cluster.clock.run(100);
    for (const at of [0, 1, 2]) cluster.kill(at);
    return parts;
  }

  it("says nothing of what it holds before it has heard from the others, who then agree.", async () => {
    const { cluster } = await killedInAPurge();
    for (const at of [0, 1, 2]) await cluster.startNode(at);
    for (const group of await groupsOf(cluster)) {
      assert.equal(group.isAhead, true);
      assert.equal(group.fault, undefined);
      assert.throws(
        () => group.openPartition,
        (error) => isCodedError(error, ErrorCode.TransientNotAccepted),
      );
    }
    cluster.passes = () => true;
    const { client } = await newWriter(cluster, [0, 1, 2]);
    const groups = await groupsOf(cluster);
    await cluster.until(() => groups.every((group) => !group.isAhead && group.partition?.committedOp === 3));
    assert.deepEqual(await textsOf(cluster, client), []);
    await cluster.drive(client.ok("SendMessages", sendBody(["c"])));
    assert.deepEqual(await textsOf(cluster, client), ["c"]);
    await cluster.stop();
  });

  it("confirms a send that it only seems to remember when it is committed, not before.", async () => {
    const { cluster } = await killedInAPurge();
    for (const at of [0, 1, 2]) await cluster.startNode(at);
    const { client, group } = await newWriter(cluster, [0, 1, 2], counting);
    assert.equal(group.isAhead, true);
    let isAnswered = false;
    const again = client.command("SendMessages", sendBody(["b"]), { request: 2n });
    void again.finally(() => {
      isAnswered = true;
    });
    await cluster.clock.run(50);
    assert.equal(isAnswered, false);
    cluster.passes = () => true;
    assert.equal(await codeOf(cluster, again), 0);
    assert.equal(group.isAhead, false);
    await cluster.stop();
  });

  it("starts although the purge is still to come to it, which then it does.", async () => {
    const { cluster, client } = await smallCluster();
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    cluster.passes = (packet) => !isPartitions(packet);
    client.command("PurgeTopic", encodePurgeTopic(TOPIC)).catch(() => undefined);
    await cluster.clock.run(500);
    for (const at of [0, 1, 2]) cluster.kill(at);
    cluster.passes = () => true;
    for (const at of [0, 1, 2]) await cluster.startNode(at);
    const groups = await groupsOf(cluster);
    await cluster.until(() =>
      groups.every(({ partition }) => (partition?.committedPurgeGeneration ?? 0) > 0),
    );
    assert.ok(groups.every(({ partition }) => partition?.committedNextOffset === 0));
    await cluster.stop();
  });
});
