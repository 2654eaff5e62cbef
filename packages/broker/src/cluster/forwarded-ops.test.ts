import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic, forgetBody, storeBody } from "../testing/test-topics.ts";

/** An SDK whose request numbers tell its sends apart. */
const COUNTING_SDK = "millrace-node";
/** Simulated milliseconds of one way between two nodes. */
const LINK_MS = 1;

/** Of which group a frame is and what it says, see docs/spec/replica-messages.md. */
const isOfPartition = ({ bytes }: Packet) => bytes[140] === 2;
const isLog = (packet: Packet) =>
  isOfPartition(packet) &&
  [ReplicaCommand.prepare, ReplicaCommand.commit, ReplicaCommand.commits].some(
    (one) => packet.bytes[60] === one,
  );
const hasBatch = ({ bytes }: Packet) => bytes.length > 400;
const isAnswer = ({ bytes }: Packet) => bytes[60] === ReplicaCommand.forwardedReply;

/** A cluster with a topic, and a client on a node that leads nothing. */
async function withBackup({ sdkName = "test", partitionsCount = 1 } = {}) {
  const cluster = await TestCluster.start();
  const leader = await cluster.metadataPrimary();
  const onLeader = await cluster.login(leader);
  await cluster.drive(createSmallTopic(onLeader, {}, partitionsCount));
  const [one, other] = [0, 1, 2].filter((at) => at !== leader) as [number, number];
  for (let id = 0; id < partitionsCount; id += 1) await cluster.group(one, id);
  const client = await cluster.login(one, 20n, sdkName);
  return { cluster, leader, one, other, client, onLeader };
}

async function textsOf(cluster: TestCluster, client: TestClient, partitionId = 0): Promise<string[]> {
  const payload = await cluster.drive(client.ok("PollMessages", pollBody({ partitionId })));
  return polled(payload).messages.map(({ text }) => text);
}

/** Lets time pass until a node leads partition 0 that does not lead the metadata. */
async function apartFrom(cluster: TestCluster, leader: number): Promise<number> {
  cluster.passes = (packet) => packet.from !== leader || !isOfPartition(packet);
  const groups = await Promise.all([0, 1, 2].map(async (at) => ({ at, group: await cluster.group(at, 0) })));
  const { at } = await cluster.until(() => groups.find(({ at, group }) => at !== leader && group.isPrimary));
  cluster.passes = () => true;
  const { group } = groups[leader] ?? {};
  await cluster.until(() => group?.replica?.status === "normal" && group.replica.primary === at);
  return at;
}

/** A send under this number is answered with 57 once this befell it, and comes again on its connection. */
async function foundOnItsConnection(request: bigint, fate: (cluster: TestCluster) => void): Promise<void> {
  const { cluster, client } = await withBackup({ sdkName: COUNTING_SDK, partitionsCount: 3 });
  const send = (text: string, number: bigint) => {
    const body = sendBody([text], { partitioning: { kind: "balanced" } });
    return cluster.drive(client.command("SendMessages", body, { request: number }));
  };
  await send("first", 1n);
  fate(cluster);
  assert.equal((await send("once", request)).code, ErrorCode.TransientNotCommitted);
  cluster.passes = () => true;
  cluster.delaysOf = () => [LINK_MS];
  assert.equal((await send("once", request)).code, 0);
  await cluster.clock.run(10_000);
  const found: string[] = [];
  for (const id of [0, 1, 2]) found.push(...(await textsOf(cluster, client, id)));
  assert.deepEqual(found.sort(), ["first", "once"]);
  await cluster.stop();
}

/** The answers to what is asked for a send come late: its client has stored it elsewhere by then. */
async function leftWhileLookedFor(hasEnd: boolean): Promise<void> {
  const { cluster, one, other, client } = await withBackup({ sdkName: COUNTING_SDK, partitionsCount: 3 });
  const bodyOf = (text: string) => sendBody([text], { partitioning: { kind: "balanced" } });
  cluster.delaysOf = (packet) => [packet.to === one && isAnswer(packet) ? 5000 : LINK_MS];
  client.command("SendMessages", bodyOf("once"), { request: 1n }).catch(() => {});
  await cluster.clock.run(10);
  cluster.delaysOf = () => [LINK_MS];
  if (hasEnd) client.close();
  const elsewhere = await cluster.login(other, 20n, COUNTING_SDK);
  // Its turn is another one.
  await cluster.drive(elsewhere.command("SendMessages", bodyOf("before"), { request: 2n }));
  const again = await cluster.drive(elsewhere.command("SendMessages", bodyOf("once"), { request: 1n }));
  assert.equal(again.code, 0);
  // Who leads the partitions when the answers come has not been asked.
  const groups = await Promise.all([0, 1, 2].map((id) => cluster.group(other, id)));
  await cluster.until(() => {
    for (const group of groups) group.replication?.hear({ kind: "lead" });
    return groups.every(({ isPrimary }) => isPrimary);
  });
  await cluster.clock.run(5000);
  const found: string[] = [];
  for (const id of [0, 1, 2]) found.push(...(await textsOf(cluster, elsewhere, id)));
  assert.deepEqual(found.sort(), ["before", "once"], hasEnd ? "it ended" : "it has no end");
  await cluster.stop();
}

describe("A node that does not lead a partition", () => {
  it("passes a send on and answers once it is readable there.", async () => {
    const { cluster, client, one } = await withBackup();
    const begunMs = cluster.clock.monotonicMs();
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    const tookMs = cluster.clock.monotonicMs() - begunMs;
    assert.ok(tookMs < 20 * LINK_MS, `it does not wait for the next broadcast, but ${tookMs} ms`);
    assert.deepEqual(await textsOf(cluster, client), ["a"]);
    assert.equal((await cluster.group(one, 0)).isPrimary, false);
    await cluster.stop();
  });

  it("passes on what is stored and forgotten of offsets, and says what is wrong with it.", async () => {
    const { cluster, client } = await withBackup();
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    const groups = await Promise.all([0, 1, 2].map((at) => cluster.group(at, 0)));
    const isEverywhere = (offset?: number) =>
      groups.every(({ partition }) => partition?.consumerOffset(1, 7) === offset);
    const beyond = await cluster.drive(client.command("StoreConsumerOffset", storeBody(7, 5)));
    assert.equal(beyond.code, ErrorCode.InvalidOffset);
    const nothing = await cluster.drive(client.command("DeleteConsumerOffset", forgetBody(7)));
    assert.equal(nothing.code, ErrorCode.ConsumerOffsetNotFound);
    await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 0)));
    await cluster.until(() => isEverywhere(0));
    await cluster.drive(client.ok("DeleteConsumerOffset", forgetBody(7)));
    await cluster.until(() => isEverywhere());
    await cluster.stop();
  });

  it("serves polls with auto-commit one behind the other.", async () => {
    const { cluster, client } = await withBackup();
    for (const text of ["a", "b", "c"]) await cluster.drive(client.ok("SendMessages", sendBody([text])));
    const body = pollBody({ strategy: { kind: "next" }, count: 1, autoCommit: true });
    const read: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const payload = await cluster.drive(client.ok("PollMessages", body));
      read.push(...polled(payload).messages.map(({ text }) => text));
    }
    assert.deepEqual(read, ["a", "b", "c"]);
    await cluster.stop();
  });

  it("takes sends also when it leads the metadata and another node leads the partition.", async () => {
    const { cluster, leader, onLeader } = await withBackup();
    const at = await apartFrom(cluster, leader);
    assert.notEqual(at, leader);
    await cluster.drive(onLeader.ok("SendMessages", sendBody(["a"])));
    assert.deepEqual(await textsOf(cluster, onLeader), ["a"]);
    await cluster.stop();
  });

  it("answers 58 while no node leads.", async () => {
    const { cluster, leader, one, client } = await withBackup();
    cluster.passes = ({ bytes }) => bytes[60] !== ReplicaCommand.doViewChange;
    cluster.kill(leader);
    const group = await cluster.group(one, 0);
    await cluster.until(() => group.replica?.status === "view-change");
    const answer = await cluster.drive(client.command("SendMessages", sendBody(["x"])));
    assert.equal(answer.code, ErrorCode.TransientNotAccepted);
    cluster.passes = () => true;
    await cluster.stop();
  });

  it("answers 57 when the answer is lost, and a repetition is stored once.", async () => {
    const { cluster, client } = await withBackup({ sdkName: COUNTING_SDK });
    cluster.passes = (packet) => !isAnswer(packet);
    const lost = await cluster.drive(client.command("SendMessages", sendBody(["once"]), { request: 1n }));
    assert.equal(lost.code, ErrorCode.TransientNotCommitted);
    cluster.passes = () => true;
    const again = await cluster.drive(client.command("SendMessages", sendBody(["once"]), { request: 1n }));
    assert.equal(again.code, 0);
    assert.deepEqual(await textsOf(cluster, client), ["once"]);
    await cluster.stop();
  });

  it("stores a send once that waits there for a view whose log holds it already.", async () => {
    const { cluster, leader, one, other } = await withBackup();
    const client = await cluster.login(leader, 21n, COUNTING_SDK);
    cluster.passes = (packet) => packet.to === other && isLog(packet);
    void client.command("SendMessages", sendBody(["once"]), { request: 1n }).catch(() => undefined);
    const journaled = await cluster.group(other, 0);
    await cluster.until(() => journaled.partition?.lastOp === 1);
    for (const at of [0, 1, 2]) cluster.kill(at);
    cluster.passes = (packet) => !isOfPartition(packet);
    for (const at of [one, other]) await cluster.startNode(at);
    const again = await cluster.login(one, 21n, COUNTING_SDK);
    const group = await cluster.group(one, 0);
    assert.equal(group.partition?.lastOp, 0, "it has not heard of the first one");
    cluster.passes = () => true;
    await cluster.clock.run(1000);
    assert.notEqual(group.replica?.status, "normal", "the send waits for the view");
    const answer = again.command("SendMessages", sendBody(["once"]), { request: 1n });
    const { code } = await cluster.drive(answer);
    assert.deepEqual([code, group.isPrimary], [0, true]);
    assert.deepEqual(await textsOf(cluster, again), ["once"]);
    await cluster.stop();
  });

  it("finds where a send went whose partition is the server's to choose.", async () => {
    const { cluster, other, client } = await withBackup({ sdkName: COUNTING_SDK, partitionsCount: 3 });
    const body = sendBody(["once"], { partitioning: { kind: "balanced" } });
    const isUnheard = (packet: Packet) => packet.to === other && isLog(packet);
    cluster.passes = (packet) => !isAnswer(packet) && !isUnheard(packet);
    const lost = await cluster.drive(client.command("SendMessages", body, { request: 1n }));
    assert.equal(lost.code, ErrorCode.TransientNotCommitted);
    cluster.passes = (packet) => !isUnheard(packet);
    const elsewhere = await cluster.login(other, 20n, COUNTING_SDK);
    const again = elsewhere.command("SendMessages", body, { request: 1n });
    await cluster.clock.run(100);
    const groups = await Promise.all([0, 1, 2].map((id) => cluster.group(other, id)));
    assert.ok(groups.every(({ partition }) => partition?.lastOp === 0), "it has not heard of the first one"); // biome-ignore format: one line
    cluster.passes = () => true;
    assert.equal((await cluster.drive(again)).code, 0);
    const found: string[] = [];
    for (const id of [0, 1, 2]) found.push(...(await textsOf(cluster, elsewhere, id)));
    assert.deepEqual(found, ["once"]);
    await cluster.stop();
  });

  it("finds it also when it comes again on its connection, whatever was sent before, and on its way yet.", async () => {
    const fates: readonly ((cluster: TestCluster) => void)[] = [
      (cluster) => (cluster.passes = (packet) => !isAnswer(packet)),
      (cluster) => (cluster.delaysOf = (packet) => [isOfPartition(packet) && hasBatch(packet) ? 10_000 : 1]),
    ];
    for (const number of [5n, 1000n]) for (const fate of fates) await foundOnItsConnection(number, fate);
  });

  it("takes nothing late of a send that was looked for and not found, and went elsewhere.", async () => {
    const { cluster, one, other, client } = await withBackup({ sdkName: COUNTING_SDK, partitionsCount: 3 });
    const body = sendBody(["once"], { partitioning: { kind: "balanced" } });
    const isRequest = ({ bytes }: Packet) => bytes[60] === ReplicaCommand.forwardedRequest;
    const isLate = (packet: Packet) => packet.from === one && isRequest(packet) && hasBatch(packet);
    cluster.delaysOf = (packet) => [isLate(packet) ? 500 : LINK_MS];
    client.command("SendMessages", body, { request: 1n }).catch(() => {});
    await cluster.clock.run(10);
    cluster.delaysOf = () => [LINK_MS];
    client.close();
    const elsewhere = await cluster.login(other, 20n, COUNTING_SDK);
    // Its turn is another one.
    const before = sendBody(["before"], { partitioning: { kind: "balanced" } });
    await cluster.drive(elsewhere.command("SendMessages", before, { request: 2n }));
    const again = elsewhere.command("SendMessages", body, { request: 1n });
    assert.equal((await cluster.drive(again)).code, 0);
    await cluster.clock.run(1000);
    const found: string[] = [];
    for (const id of [0, 1, 2]) found.push(...(await textsOf(cluster, elsewhere, id)));
    assert.deepEqual(found.sort(), ["before", "once"]);
    await cluster.stop();
  });

  it("drops a send that is being looked for when its client left: it may come again elsewhere.", async () => {
    // Of a connection without an end the later login tells.
    for (const hasEnd of [true, false]) await leftWhileLookedFor(hasEnd);
  });

  it("is not answered by what answers a send of the process before it.", async () => {
    const { cluster, one, other, client } = await withBackup();
    const isLate = (packet: Packet) => packet.to === one && isOfPartition(packet) && isAnswer(packet);
    cluster.delaysOf = (packet) => [isLate(packet) ? 3000 : LINK_MS];
    client.command("SendMessages", sendBody(["before"])).catch(() => {});
    await cluster.clock.run(20);
    cluster.kill(one);
    client.close();
    cluster.delaysOf = () => [LINK_MS];
    await cluster.startNode(one);
    const group = await cluster.group(one, 0);
    await cluster.until(() => group.replica?.status === "normal");
    const again = await cluster.login(one, 21n);
    // What is sent now never arrives.
    const isSend = (packet: Packet) =>
      packet.from === one && isOfPartition(packet) && packet.bytes[60] === ReplicaCommand.forwardedRequest;
    cluster.passes = (packet) => !isSend(packet);
    const { code } = await cluster.drive(again.command("SendMessages", sendBody(["never"])));
    assert.equal(code, ErrorCode.TransientNotCommitted);
    cluster.passes = () => true;
    const elsewhere = await cluster.login(other, 22n);
    assert.deepEqual(await textsOf(cluster, elsewhere), ["before"]);
    await cluster.stop();
  });

  it("drops a send that waits for a view when its connection ends: it may come again elsewhere.", async () => {
    const { cluster, leader, one, other, client } = await withBackup();
    cluster.passes = ({ bytes }) => bytes[60] !== ReplicaCommand.doViewChange;
    cluster.kill(leader);
    const group = await cluster.group(one, 0);
    await cluster.until(() => group.replica?.status === "view-change");
    client.command("SendMessages", sendBody(["left"])).catch(() => {});
    await cluster.clock.run(10);
    client.close();
    cluster.passes = () => true;
    await cluster.until(() => group.replica?.status === "normal");
    await cluster.clock.run(500);
    const elsewhere = await cluster.login(other, 21n);
    assert.deepEqual(await textsOf(cluster, elsewhere), []);
    await cluster.stop();
  });

  it("drops a send that waits for a view when its client logs in elsewhere: it may come again there.", async () => {
    const { cluster, leader, one, other, client } = await withBackup();
    cluster.passes = (packet) => !isOfPartition(packet) || packet.bytes[60] !== ReplicaCommand.doViewChange;
    cluster.kill(leader);
    const group = await cluster.group(one, 0);
    await cluster.until(() => group.replica?.status === "view-change");
    await cluster.until(() => [one, other].some((at) => cluster.broker(at).shard.metadata.isPrimary));
    const left = client.command("SendMessages", sendBody(["left"]));
    const elsewhere = await cluster.login(other, 20n);
    assert.equal(group.replica?.status, "view-change", "it waits still");
    await cluster.clock.run(100);
    cluster.passes = () => true;
    assert.equal((await cluster.drive(left)).code, ErrorCode.TransientNotAccepted);
    await cluster.until(() => group.replica?.status === "normal");
    assert.deepEqual(await textsOf(cluster, elsewhere), []);
    await cluster.stop();
  });

  it("keeps the order of a connection's sends while it comes to lead the partition itself.", async () => {
    const { cluster, leader, one, client } = await withBackup();
    const group = await cluster.group(one, 0);
    const sent: Promise<{ text: string; code: number }>[] = [];
    let number = 0;
    const sendOne = () => {
      number += 1;
      const text = `${number}`;
      sent.push(client.command("SendMessages", sendBody([text])).then(({ code }) => ({ text, code })));
    };
    for (let count = 0; count < 20; count += 1) sendOne();
    cluster.kill(leader);
    await cluster.until(() => {
      if (number < 400) sendOne();
      return group.isPrimary || group.replica?.status === "normal";
    });
    await cluster.clock.run(5000);
    for (let count = 0; count < 20; count += 1) sendOne();
    const answers = await cluster.drive(Promise.all(sent));
    const acknowledged = answers.filter(({ code }) => code === 0).map(({ text }) => text);
    const stored = await textsOf(cluster, client);
    const inOrder = [...stored].sort((a, b) => Number(a) - Number(b));
    assert.deepEqual(stored, inOrder);
    assert.ok(acknowledged.every((text) => stored.includes(text)));
    assert.ok(acknowledged.includes(`${number}`), "it goes on");
    await cluster.stop();
  });
});
