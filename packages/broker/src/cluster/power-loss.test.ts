import assert from "node:assert/strict";
import { it } from "node:test";
import { typedField } from "@millrace/framing";
import { encodeCreateStream, encodeCreateTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
import { groupsOf, isPartitions } from "../testing/small-cluster.ts";
import { syncNames } from "../testing/sync-names.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

type Durability = "replicated" | "persisted";
type End = (cluster: TestCluster, at: number) => void | Promise<void>;

const NODES = [0, 1, 2] as const;
const losePower = (cluster: TestCluster, at: number): void => cluster.crash(at, { keep: "none" });
/** Power fails, and at the start that follows the first view that is to be noted finds the disk full. */
const losePowerWithoutRoom: End = async (cluster, at) => {
  await syncNames(cluster.nodes[at]!.disk);
  losePower(cluster, at);
  let isFull = true;
  cluster.nodes[at]?.disk.setFaults(({ kind, path }) => {
    if (!isFull || kind !== "write" || path !== "metadata/views.wal") return undefined;
    isFull = false;
    return { kind: "error", errno: "ENOSPC" };
  });
};
const kill: End = (cluster, at) => cluster.kill(at);

/** A cluster whose partition has the messages "a" and "b", on its primary and on one of the others. */
async function filledCluster(durability: Durability) {
  const cluster = await TestCluster.start(3);
  const primary = await cluster.metadataPrimary();
  const client = await cluster.login(primary);
  const options = ["durability", "consumer_offset_durability"].map((key) => ({
    key,
    value: typedField("string", durability),
  }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options };
  const createStream = (name: string) =>
    cluster.drive(client.ok("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS })));
  await createStream("s");
  await cluster.drive(client.ok("CreateTopic", encodeCreateTopic(topic)));
  // A start executes what a later record proves to be committed.
  await createStream("later");
  await cluster.clock.run(1000);
  await createStream("last");
  await groupsOf(cluster);
  const [late, lost] = NODES.filter((at) => at !== primary) as [number, number];
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
  await cluster.clock.run(1000);
  return { cluster, primary, others: [late, lost] as const, lost };
}

/** Ends one that has the messages, starts it, and leaves it alone with the one that never got them. */
async function withoutPrimary(durability: Durability, end: End) {
  const { cluster, primary, others, lost } = await filledCluster(durability);
  cluster.passes = (packet) => !isPartitions(packet);
  await end(cluster, lost);
  await cluster.startNode(lost);
  await cluster.until(() => cluster.broker(lost).shard.metadata.primary === primary);
  await cluster.group(lost, 0);
  cluster.kill(primary);
  cluster.passes = () => true;
  await cluster.clock.run(30_000);
  const isLed = (await groupsOf(cluster, others)).some(({ isPrimary }) => isPrimary);
  return { cluster, primary, isLed };
}

async function demandTexts(cluster: TestCluster): Promise<void> {
  for (const at of NODES) {
    const group = await cluster.group(at, 0);
    await cluster.until(
      () => group.replica?.status === "normal" && group.partition?.committedNextOffset === 2,
    );
    const client = await cluster.login(at, BigInt(200 + at));
    const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody())));
    assert.deepEqual(
      messages.map(({ text }) => text),
      ["a", "b"],
      `node ${at}`,
    );
  }
}

it("A node that lost power does not help to vote away what it acknowledged and did not sync.", async () => {
  const { cluster, primary, isLed } = await withoutPrimary("replicated", losePower);
  assert.equal(isLed, false, "two of three do not go on: what the third has may be acknowledged");
  await cluster.startNode(primary);
  await demandTexts(cluster);
  await cluster.stop();
});

it("A node that lost power notes it, though a full disk refused a partition's note at first.", async () => {
  const { cluster, primary, isLed } = await withoutPrimary("replicated", losePowerWithoutRoom);
  assert.equal(isLed, false);
  await cluster.startNode(primary);
  await demandTexts(cluster);
  await cluster.stop();
});

it("A node that lost power after another one notes it, though it is killed before it could speak.", async () => {
  const { cluster, primary, others, lost } = await filledCluster("replicated");
  cluster.passes = () => false;
  losePower(cluster, lost);
  await cluster.startNode(lost);
  cluster.kill(lost);
  await cluster.startNode(lost);
  cluster.kill(primary);
  cluster.passes = () => true;
  await cluster.clock.run(30_000);
  assert.ok((await groupsOf(cluster, others)).every(({ isPrimary }) => !isPrimary));
  await cluster.startNode(primary);
  await demandTexts(cluster);
  await cluster.stop();
});

it("Where everything is synced, and after a kill, two of three go on at once.", async () => {
  for (const [durability, end] of [
    ["replicated", kill],
    ["persisted", losePower],
  ] as const) {
    const { cluster, primary, isLed } = await withoutPrimary(durability, end);
    assert.equal(isLed, true, durability);
    await cluster.startNode(primary);
    await demandTexts(cluster);
    await cluster.stop();
  }
});

it("Nodes that lost power all at once go on when all are there, and then two of three are enough again.", async () => {
  const { cluster, primary } = await filledCluster("replicated");
  cluster.passes = () => true;
  await demandTexts(cluster);
  for (const at of NODES) cluster.crash(at, { keep: "all" });
  await Promise.all(NODES.map((at) => cluster.startNode(at)));
  await demandTexts(cluster);
  cluster.kill(primary);
  await cluster.until(() =>
    NODES.some((at) => at !== primary && cluster.groupNow(at, 0)?.isPrimary === true),
  );
  await cluster.stop();
});
