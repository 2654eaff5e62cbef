import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import { encodeDeleteTopic, toIdentifier } from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

/** An SDK whose request numbers tell its sends apart. */
const COUNTING_SDK = "millrace-node";
const PARTITIONS = [0, 1, 2];

/** Of which group a frame is and what it says, see docs/spec/replica-messages.md. */
const isOfPartition = ({ bytes }: Packet) => bytes[140] === 2;
const isForwarded = ({ bytes }: Packet) =>
  bytes[60] === ReplicaCommand.forwardedRequest || bytes[60] === ReplicaCommand.forwardedReply;

const bodyOf = (text: string) => sendBody([text], { partitioning: { kind: "balanced" } });
const send = (client: TestClient, text: string, request: bigint) =>
  client.command("SendMessages", bodyOf(text), { request });

async function storedIn(cluster: TestCluster, client: TestClient): Promise<string[]> {
  const found: string[] = [];
  for (const partitionId of PARTITIONS) {
    const payload = await cluster.drive(client.ok("PollMessages", pollBody({ partitionId, count: 100 })));
    found.push(...polled(payload).messages.map(({ text }) => text));
  }
  return found.sort();
}

/** A cluster whose nodes all have the three partitions open. */
async function started(replicaCount: number) {
  const cluster = await TestCluster.start(replicaCount);
  const old = await cluster.metadataPrimary();
  const onOld = await cluster.login(old);
  await cluster.drive(createSmallTopic(onOld, {}, 3));
  for (const at of cluster.nodes.keys()) for (const id of PARTITIONS) await cluster.group(at, id);
  const others = [...cluster.nodes.keys()].filter((at) => at !== old);
  const leads = (at: number) => PARTITIONS.every((id) => cluster.groupNow(at, id)?.isPrimary === true);
  await cluster.until(() => leads(old));
  return { cluster, old, onOld, others, leads };
}

/** Lets time pass until each partition is led by one of these nodes. */
function ledAmong(cluster: TestCluster, nodes: readonly number[]): Promise<boolean> {
  const isLed = (id: number) => nodes.some((at) => cluster.groupNow(at, id)?.isPrimary === true);
  return cluster.until(() => PARTITIONS.every(isLed));
}

/**
 * In the partitions' groups some nodes hear nothing of the others, which elect a leader and store a send. The
 * node that led before, which is among the cut off, has heard of nothing when the send comes again at `at`.
 */
async function comesAgain(replicaCount: number, cutOffCount: number, isAtLeader: boolean): Promise<void> {
  const { cluster, old, others, leads } = await started(replicaCount);
  const cutOff = [old, ...others.slice(0, cutOffCount - 1)];
  const rest = others.slice(cutOffCount - 1);
  const isBetween = ({ from, to }: Packet) => cutOff.includes(from) !== cutOff.includes(to);
  cluster.passes = (packet) => !isOfPartition(packet) || isForwarded(packet) || !isBetween(packet);
  await ledAmong(cluster, rest);
  const next = rest[0] as number;
  const client = await cluster.login(next, 20n, COUNTING_SDK);
  assert.equal((await cluster.drive(send(client, "turn", 1n))).code, 0);
  assert.equal((await cluster.drive(send(client, "once", 2n))).code, 0);
  client.close();
  assert.ok(leads(old));
  const again = await cluster.login(isAtLeader ? old : (cutOff[1] as number), 20n, COUNTING_SDK);
  assert.equal((await cluster.drive(send(again, "once", 2n))).code, ErrorCode.TransientNotAccepted);
  cluster.passes = () => true;
  await cluster.until(() => !leads(old));
  await cluster.clock.run(2000);
  assert.equal((await cluster.drive(send(again, "once", 2n))).code, 0);
  assert.deepEqual(await storedIn(cluster, await cluster.login(next, 300n)), ["once", "turn"]);
  await cluster.stop();
}

/**
 * The first send waits at the cut off leader, nothing commits it. It is stored elsewhere, comes back to that
 * node, or to one that was cut off with it and has the first one in its journal.
 */
async function comesBack(replicaCount: number, cutOffCount: number, isAtLeader: boolean): Promise<void> {
  const { cluster, old, others, leads } = await started(replicaCount);
  const cutOff = [old, ...others.slice(0, cutOffCount - 1)];
  const rest = others.slice(cutOffCount - 1);
  const isBetween = ({ from, to }: Packet) => cutOff.includes(from) !== cutOff.includes(to);
  cluster.passes = (packet) => !isOfPartition(packet) || isForwarded(packet) || !isBetween(packet);
  const first = await cluster.login(old, 20n, COUNTING_SDK, "next-request=1");
  send(first, "once", 1n).catch(() => {});
  await cluster.clock.run(20);
  first.close();
  await ledAmong(cluster, rest);
  const onNext = await cluster.login(rest[0] as number, 300n);
  for (const text of ["turn", "turn"]) await cluster.drive(onNext.ok("SendMessages", bodyOf(text)));
  const second = await cluster.login(rest[0] as number, 20n, COUNTING_SDK);
  assert.equal((await cluster.drive(send(second, "once", 1n))).code, 0);
  second.close();
  assert.ok(leads(old));
  const third = await cluster.login(isAtLeader ? old : (cutOff[1] as number), 20n, COUNTING_SDK);
  const sent = send(third, "once", 1n);
  await cluster.clock.run(100);
  cluster.passes = () => true;
  await cluster.drive(sent);
  await cluster.until(() => !leads(old));
  await cluster.clock.run(2000);
  assert.equal((await cluster.drive(send(third, "once", 1n))).code, 0);
  assert.deepEqual(await storedIn(cluster, onNext), ["once", "turn", "turn"]);
  await cluster.stop();
}

/** The same when the former leader was cut off from all, and hears them again so many milliseconds later. */
async function comesAgainAfter(offsetMs: number): Promise<void> {
  const { cluster, old, others } = await started(3);
  cluster.passes = ({ from, to }) => from !== old && to !== old;
  await ledAmong(cluster, others);
  const next = await cluster.until(() => {
    const at = others.find((one) => cluster.broker(one).shard.metadata.isPrimary);
    return at === undefined ? undefined : { at, third: others.find((one) => one !== at) as number };
  });
  await cluster.clock.run(2300);
  // Another node leads the partitions since another moment than the metadata is led.
  await cluster.until(() => {
    for (const id of PARTITIONS) cluster.groupNow(next.third, id)?.replication?.hear({ kind: "lead" });
    return PARTITIONS.every((id) => cluster.groupNow(next.third, id)?.isPrimary === true);
  });
  const onNext = await cluster.login(next.at, 300n);
  await cluster.drive(onNext.ok("SendMessages", bodyOf("turn")));
  const client = await cluster.login(next.at, 20n, COUNTING_SDK);
  assert.equal((await cluster.drive(send(client, "once", 1n))).code, 0);
  client.close();
  await cluster.clock.run(100 + offsetMs);
  cluster.passes = () => true;
  const again = await cluster.login(old, 20n, COUNTING_SDK);
  while ((await cluster.drive(send(again, "once", 1n))).code !== 0) await cluster.clock.run(50);
  await cluster.clock.run(3000);
  assert.deepEqual(await storedIn(cluster, onNext), ["once", "turn"]);
  await cluster.stop();
}

describe("A send without a partition that comes again where a former leader does not know that it is one", () => {
  it("is stored once at that node.", () => comesAgain(3, 1, true));

  it("is stored once at that node, of five.", () => comesAgain(5, 1, true));

  it("is stored once at a node that asks it.", () => comesAgain(5, 2, false));

  it("is stored once when its first try waits there.", () => comesBack(3, 1, true));

  it("is stored once when its first try waits there, at a node that asks it.", () => comesBack(5, 2, false));

  for (const offsetMs of [0, 60, 410, 470]) {
    it(`is stored once ${offsetMs} ms after another moment.`, () => comesAgainAfter(offsetMs));
  }
});

describe("A send without a partition that may come again", () => {
  for (const replicaCount of [1, 2, 3, 5]) {
    it(`is stored where nobody has seen it, of ${replicaCount} nodes.`, async () => {
      const { cluster, old, onOld } = await started(replicaCount);
      const client = await cluster.login(old, 20n, COUNTING_SDK);
      assert.equal((await cluster.drive(send(client, "once", 1n))).code, 0);
      assert.deepEqual(await storedIn(cluster, onOld), ["once"]);
      await cluster.stop();
    });
  }

  for (const replicaCount of [2, 3, 5]) {
    it(`is answered with 58 while a quorum says nothing, of ${replicaCount} nodes.`, async () => {
      const { cluster, old, onOld, leads } = await started(replicaCount);
      const client = await cluster.login(old, 20n, COUNTING_SDK);
      cluster.passes = (packet) => !isForwarded(packet);
      assert.equal((await cluster.drive(send(client, "once", 1n))).code, ErrorCode.TransientNotAccepted);
      assert.ok(leads(old));
      cluster.passes = () => true;
      assert.equal((await cluster.drive(send(client, "once", 1n))).code, 0);
      assert.deepEqual(await storedIn(cluster, onOld), ["once"]);
      await cluster.stop();
    });
  }

  it("is answered when its topic is deleted while the others are asked.", async () => {
    const { cluster, old, onOld } = await started(3);
    const client = await cluster.login(old, 20n, COUNTING_SDK);
    cluster.passes = (packet) => !isForwarded(packet);
    const sent = send(client, "once", 1n);
    await cluster.clock.run(100);
    const target = { stream: toIdentifier(0), topic: toIdentifier(0) };
    await cluster.drive(onOld.ok("DeleteTopic", encodeDeleteTopic(target)));
    assert.notEqual((await cluster.drive(sent)).code, 0);
    await cluster.stop();
  });

  it("is answered when another node comes to lead while the others are asked, and stored once.", async () => {
    const { cluster, old, onOld, others, leads } = await started(3);
    const client = await cluster.login(old, 20n, COUNTING_SDK);
    // None asks to lead right after a view has begun.
    await cluster.clock.run(10_000);
    cluster.delaysOf = (packet) => [isForwarded(packet) ? 900 : 1];
    const sent = send(client, "once", 1n);
    await cluster.clock.run(10);
    await cluster.until(() => {
      for (const id of PARTITIONS)
        cluster.groupNow(others[0] as number, id)?.replication?.hear({ kind: "lead" });
      return leads(others[0] as number);
    });
    assert.equal((await cluster.drive(sent)).code, ErrorCode.TransientNotAccepted);
    cluster.delaysOf = () => [1];
    assert.equal((await cluster.drive(send(client, "once", 1n))).code, 0);
    assert.deepEqual(await storedIn(cluster, onOld), ["once"]);
    await cluster.stop();
  });
});
