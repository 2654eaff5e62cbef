import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import {
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodePurgeTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import type { TestCluster } from "../../testing/test-cluster.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { Lagging } from "./transfer-fixture.test.ts";

/** So few that what a node misses is in a snapshot soon. */
const SNAPSHOT_EVERY_OPS = 5;
const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };

function start(): Promise<Lagging> {
  return Lagging.start({ config: { snapshotEveryOps: SNAPSHOT_EVERY_OPS } });
}

async function createTopic({ cluster, client }: Lagging, name: string): Promise<void> {
  const topic = { stream: toIdentifier(0), name, partitionsCount: 2, options: NO_OPTIONS };
  await cluster.drive(client.ok("CreateTopic", encodeCreateTopic(topic)));
}

/** Makes and deletes streams until the ops before are in a snapshot on both nodes that hear them. */
async function compact({ cluster, client }: Lagging): Promise<void> {
  for (let count = 0; count < 2 * SNAPSHOT_EVERY_OPS; count += 1) {
    const name = `passing ${count}`;
    await cluster.drive(client.ok("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS })));
    await cluster.drive(client.ok("DeleteStream", encodeDeleteStream({ stream: toIdentifier(name) })));
  }
}

function catalogOf(cluster: TestCluster, at: number): Uint8Array {
  return cluster.broker(at).shard.catalog.encodeSnapshot();
}

/** Partitions that a node holds: by name in the catalog's order. */
function partitionsOf(cluster: TestCluster, at: number): string[] {
  const handles = [...cluster.broker(at).shard.partitions.handles()];
  return handles.map(({ identity }) => Object.values(identity).join("/")).toSorted();
}

/** Lets time pass until a node's catalog is as the primary's, then compares partitions and sessions. */
async function catalogCaughtUp({ cluster, primary }: Lagging, at: number): Promise<void> {
  const { metadata: model } = cluster.broker(primary).shard;
  const { metadata } = cluster.broker(at).shard;
  await cluster.until(() => metadata.commit === model.commit);
  assert.deepEqual(catalogOf(cluster, at), catalogOf(cluster, primary));
  assert.deepEqual(metadata.clientTable.encode(), model.clientTable.encode());
  assert.deepEqual(partitionsOf(cluster, at), partitionsOf(cluster, primary));
}

async function textsOf(cluster: TestCluster, at: number, topicId: number): Promise<string[]> {
  const client = await cluster.login(at, BigInt(700 + at));
  const poll = pollBody({ topic: toIdentifier(topicId) });
  const { messages } = polled(await cluster.drive(client.ok("PollMessages", poll)));
  client.close();
  return messages.map(({ text }) => text);
}

describe("A replica of the metadata group that lacks more than its peers' journals hold", () => {
  it("gets the catalog; partitions come, go and are purged as if it had executed the ops.", async () => {
    const lagging = await start();
    const { cluster, client, at } = lagging;
    lagging.heal();
    await createTopic(lagging, "to be deleted");
    await catalogCaughtUp(lagging, at);
    lagging.cutOff();
    await lagging.send("purged");
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    await createTopic(lagging, "new");
    const gone = { stream: toIdentifier(0), topic: toIdentifier("to be deleted") };
    await cluster.drive(client.ok("DeleteTopic", encodeDeleteTopic(gone)));
    const body = sendBody(["in the new one"], { topic: "new" });
    await cluster.drive(client.ok("SendMessages", body));
    await compact(lagging);
    lagging.heal();
    await catalogCaughtUp(lagging, at);
    assert.ok(lagging.fetched >= 1);
    await lagging.send("kept");
    await cluster.until(() => cluster.groupNow(at, 0)?.partition?.purgeGeneration !== 0);
    await lagging.caughtUp();
    await createTopic(lagging, "later");
    await catalogCaughtUp(lagging, at);
    const newId = cluster
      .broker(at)
      .shard.catalog.streams()[0]
      ?.topics.list()
      .find(({ name }) => name === "new")?.id;
    await cluster.clock.run(5000);
    assert.deepEqual(await textsOf(cluster, at, newId ?? -1), ["in the new one"]);
    await cluster.stop();
  });

  it("gets it after its directory was lost, takes part again, and keeps it through restarts.", async () => {
    const lagging = await start();
    const { cluster, at, other } = lagging;
    lagging.heal();
    await compact(lagging);
    cluster.wipe(at);
    await cluster.startNode(at);
    await catalogCaughtUp(lagging, at);
    for (const end of ["stop", "kill", "crash"] as const) {
      if (end === "stop") await cluster.stopNode(at);
      else cluster[end](at);
      await cluster.startNode(at);
      await catalogCaughtUp(lagging, at);
    }
    assert.ok(lagging.lines.filter(({ message, facts }) => isMetadataFetched(message, facts)).length === 1);
    cluster.kill(other);
    await createTopic(lagging, "with the one that was filled");
    await catalogCaughtUp(lagging, at);
    await cluster.stop();
  });

  it("finishes or begins anew when it is killed, or its power fails, at any step.", async () => {
    const lagging = await start();
    const { cluster, at } = lagging;
    let isOver = false;
    for (let step = 0; !isOver; step += 1) {
      await compact(lagging);
      isOver = await lagging.dieInTransfer(step);
      await catalogCaughtUp(lagging, at);
      lagging.cutOff();
    }
    lagging.heal();
    await cluster.stop();
  });

  it("answers what it passed on to the primary before, once the new state has it.", async () => {
    const lagging = await start();
    const { cluster, at, primary } = lagging;
    lagging.heal();
    const client = await cluster.login(at, 81n);
    let replies = 0;
    cluster.passes = ({ from, to, bytes }) => {
      const isReply = to === at && bytes[60] === ReplicaCommand.forwardedReply;
      if (isReply) replies += 1;
      return isReply || (to !== at && (from !== at || to === primary));
    };
    const body = encodeCreateStream({ name: "mine", options: NO_OPTIONS });
    let code: number | undefined;
    const answered = client.command("CreateStream", body).then((answer) => {
      code = answer.code;
    });
    await cluster.until(() => replies > 0);
    await compact(lagging);
    assert.equal(code, undefined, "it is not executed there yet");
    lagging.heal();
    await cluster.drive(answered);
    assert.equal(code, 0);
    assert.ok(cluster.broker(at).shard.catalog.findStream(toIdentifier("mine")) !== undefined);
    assert.equal(lagging.fetched, 1);
    await cluster.stop();
  });
});

function isMetadataFetched(message: string, facts: Readonly<Record<string, unknown>>): boolean {
  return message === "The state of a group was fetched." && facts["group"] === "metadata";
}
