import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import { encodeCreateStream, encodePurgeTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster, type TestClusterOptions } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic, storeBody } from "../testing/test-topics.ts";

/** An SDK whose request numbers tell its sends apart. */
const COUNTING_SDK = "millrace-node";

/** A prepareOk of a partition's group, see docs/spec/replica-messages.md. */
function isPartitionsAck({ bytes }: { readonly bytes: Uint8Array }): boolean {
  return bytes[60] === ReplicaCommand.prepareOk && bytes[140] === 2;
}

/** What a client on a node reads of partition 0. */
async function textsOf(cluster: TestCluster, client: TestClient): Promise<string[]> {
  const payload = await cluster.drive(client.ok("PollMessages", pollBody()));
  return polled(payload).messages.map(({ text }) => text);
}

/** A cluster with a topic, and a client on the node that is primary of everything. */
async function withTopic(options: TestClusterOptions = {}) {
  const cluster = await TestCluster.start(3, options);
  const primary = await cluster.metadataPrimary();
  const client = await cluster.login(primary);
  await cluster.drive(createSmallTopic(client));
  const backups = [0, 1, 2].filter((at) => at !== primary);
  const [one, other] = backups as [number, number];
  return { cluster, primary, client, one, other };
}

function send(cluster: TestCluster, client: TestClient, text: string): Promise<Uint8Array> {
  return cluster.drive(client.ok("SendMessages", sendBody([text])));
}

/** Lets time pass until a node knows so many messages to be committed, then reads them there. */
async function seenOn(cluster: TestCluster, at: number, count: number): Promise<string[]> {
  const group = await cluster.group(at, 0);
  await cluster.until(() => group.partition?.committedNextOffset === count);
  return textsOf(cluster, await cluster.login(at, BigInt(100 + at)));
}

/** The living node that numbers the sends to partition 0, with a client on it. */
async function writerOf(cluster: TestCluster, nodes: readonly number[], sdkName = "test") {
  const groups = await Promise.all(nodes.map(async (at) => ({ at, group: await cluster.group(at, 0) })));
  const { at } = await cluster.until(() => groups.find(({ group }) => group.isPrimary));
  return cluster.login(at, sdkName === "test" ? 50n : 40n, sdkName);
}

/** A send whose fate its primary took along is repeated to the next one, twice. */
async function sendRepeated({
  key,
  restarts,
}: {
  readonly key: Uint8Array | undefined;
  readonly restarts: boolean;
}): Promise<void> {
  const { cluster, primary, one, other } = await withTopic({ key });
  const client = await cluster.login(primary, 40n, COUNTING_SDK);
  cluster.passes = ({ to }) => to !== primary;
  const unanswered = client.command("SendMessages", sendBody(["once"])).catch(() => undefined);
  const backups = await Promise.all([one, other].map((at) => cluster.group(at, 0)));
  await cluster.until(() => backups.every(({ partition }) => partition?.lastOp === 1));
  cluster.kill(primary);
  if (restarts) for (const at of [one, other]) cluster.kill(at);
  cluster.passes = (packet) => !isPartitionsAck(packet);
  if (restarts) for (const at of [one, other]) await cluster.startNode(at);
  const writer = await writerOf(cluster, [one, other], COUNTING_SDK);
  const [first, again] = [1, 2].map(() =>
    writer.command("SendMessages", sendBody(["once"]), { request: 1n }),
  );
  await cluster.clock.run(100);
  assert.equal((await cluster.group(one, 0)).partition?.committedOp, 0, "its fate is not known yet");
  cluster.passes = () => true;
  const codes = await cluster.drive(Promise.all([first, again].map(async (sent) => (await sent)?.code)));
  assert.deepEqual(codes, [0, 0]);
  await send(cluster, writer, "next");
  assert.deepEqual(await textsOf(cluster, writer), ["once", "next"]);
  await cluster.stop();
  void unanswered;
}

describe("A cluster of three brokers", () => {
  it("forms, agrees on a topic and keeps the same messages on each.", async () => {
    const { cluster, client } = await withTopic();
    for (const text of ["a", "b", "c"]) await send(cluster, client, text);
    for (const at of [0, 1, 2]) assert.deepEqual(await seenOn(cluster, at, 3), ["a", "b", "c"], `node ${at}`);
    await cluster.stop();
  });

  it("passes changes of the catalog on from a backup, which knows them before it answers.", async () => {
    const { cluster, one } = await withTopic();
    const client = await cluster.login(one, 20n);
    await cluster.drive(
      client.ok("CreateStream", encodeCreateStream({ name: "through a backup", options: NO_OPTIONS })),
    );
    assert.equal(cluster.broker(one).shard.catalog.counts().streams, 2);
    await cluster.stop();
  });

  it("goes on when its primary is killed, keeps what it acknowledged and takes the node back.", async () => {
    const { cluster, primary, client, one, other } = await withTopic();
    await send(cluster, client, "before");
    cluster.kill(primary);
    const again = await writerOf(cluster, [one, other]);
    await send(cluster, again, "after");
    await cluster.startNode(primary);
    for (const at of [0, 1, 2])
      assert.deepEqual(await seenOn(cluster, at, 2), ["before", "after"], `node ${at}`);
    await cluster.stop();
  });

  it("acknowledges nothing on the side of a cut that has no quorum, and drops it when it heals.", async () => {
    const { cluster, primary, client, one, other } = await withTopic();
    await send(cluster, client, "before");
    cluster.passes = ({ from, to }) => from !== primary && to !== primary;
    const lost = client.command("SendMessages", sendBody(["lost"]));
    const again = await writerOf(cluster, [one, other]);
    await send(cluster, again, "kept");
    cluster.passes = () => true;
    assert.notEqual((await cluster.drive(lost)).code, 0);
    for (const at of [0, 1, 2])
      assert.deepEqual(await seenOn(cluster, at, 2), ["before", "kept"], `node ${at}`);
    await cluster.stop();
  });

  for (const [key, how] of [
    [undefined, "in clear"],
    [new Uint8Array(32).fill(3), "encrypted"],
  ] as const)
    for (const restarts of [false, true])
      it(`stores a send once that is repeated to the next primary before that one knows its fate (${how}, ${restarts ? "started again" : "running"}).`, () =>
        sendRepeated({ key, restarts }));

  it("has everything it acknowledged when all of its nodes are killed and started.", async () => {
    const { cluster, client } = await withTopic();
    for (const text of ["a", "b"]) await send(cluster, client, text);
    for (const at of [0, 1, 2]) cluster.kill(at);
    for (const at of [0, 1, 2]) await cluster.startNode(at);
    const again = await writerOf(cluster, [0, 1, 2]);
    await send(cluster, again, "c");
    for (const at of [0, 1, 2]) assert.deepEqual(await seenOn(cluster, at, 3), ["a", "b", "c"], `node ${at}`);
    await cluster.stop();
  });

  it("puts logins off on a node that knows no user yet, in place of refusing them.", async () => {
    const { cluster, one } = await withTopic();
    cluster.wipe(one);
    cluster.passes = () => false;
    await cluster.startNode(one);
    const early = await cluster.drive(cluster.connect(one).login({ client: 30n }));
    assert.equal(early.eviction, undefined);
    assert.equal(early.code, ErrorCode.TransientNotAccepted);
    cluster.passes = () => true;
    await cluster.login(one, 31n);
    const wrong = await cluster.drive(cluster.connect(one).login({ client: 32n, password: "wrong" }));
    assert.notEqual(wrong.eviction, undefined);
    await cluster.stop();
  });

  it("fills a node whose directory was lost from the others, and counts on it again.", async () => {
    const { cluster, primary, client, one, other } = await withTopic();
    for (const text of ["a", "b", "c"]) await send(cluster, client, text);
    cluster.wipe(one);
    await cluster.startNode(one);
    assert.deepEqual(await seenOn(cluster, one, 3), ["a", "b", "c"]);
    cluster.kill(other);
    await send(cluster, await writerOf(cluster, [primary, one]), "d");
    assert.deepEqual(await seenOn(cluster, one, 4), ["a", "b", "c", "d"]);
    await cluster.stop();
  });

  it("stores offsets and purges on every node.", async () => {
    const { cluster, client } = await withTopic();
    await send(cluster, client, "a");
    await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 0)));
    const groups = await Promise.all([0, 1, 2].map((at) => cluster.group(at, 0)));
    await cluster.until(() => groups.every(({ partition }) => partition?.consumerOffset(1, 7) === 0));
    await cluster.drive(
      client.ok("PurgeTopic", encodePurgeTopic({ stream: toIdentifier(0), topic: toIdentifier(0) })),
    );
    await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === 0));
    assert.ok(groups.every(({ partition }) => partition?.consumerOffset(1, 7) === undefined));
    await send(cluster, client, "b");
    for (const at of [0, 1, 2]) assert.deepEqual(await seenOn(cluster, at, 1), ["b"], `node ${at}`);
    await cluster.stop();
  });
});
