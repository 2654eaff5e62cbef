import assert from "node:assert/strict";
import { it } from "node:test";
import type { SimDisk } from "@millrace/platform/sim";
import { groupsOf, isPartitions, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { HALF_SEGMENT } from "../testing/test-topics.ts";

const NODES = [0, 1, 2] as const;
const FOLDER = "streams/0/topics/0/partitions";

/** Takes the newest of a partition's segments away. */
async function removeNewest(disk: SimDisk): Promise<void> {
  const [folder] = await disk.readDirectory(FOLDER);
  const names = (await disk.readDirectory(`${FOLDER}/${folder?.name}`)).map(({ name }) => name).sort();
  const newest = names.findLast((name) => name.endsWith(".ops"))?.slice(0, 20) ?? "";
  assert.ok(Number(newest) > 0, "an older one is there");
  for (const name of names.filter((one) => one.startsWith(newest)))
    await disk.removeFile(`${FOLDER}/${folder?.name}/${name}`);
}

/** What all nodes hold, the whole segment at its beginning left out. */
async function demandTexts(cluster: TestCluster, expected: readonly string[]): Promise<void> {
  for (const at of NODES) {
    const group = await cluster.group(at, 0);
    const count = expected.length + 2;
    await cluster.until(
      () => group.replica?.status === "normal" && group.partition?.committedNextOffset === count,
    );
    const client = await cluster.login(at, BigInt(200 + at));
    const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody())));
    assert.deepEqual(
      messages.slice(2).map(({ text }) => text),
      expected,
      `node ${at}`,
    );
  }
}

/** Three nodes with a full segment; then two of them begin another one, which the third hears nothing of. */
async function twoSegments() {
  const parts = await smallCluster();
  const { cluster, client, primary, backups, groups } = parts;
  const [late, lost] = backups;
  await cluster.drive(client.ok("SendMessages", sendBody([HALF_SEGMENT])));
  await cluster.drive(client.ok("SendMessages", sendBody([HALF_SEGMENT])));
  await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === 2));
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  await cluster.drive(client.ok("SendMessages", sendBody(["a", "b"])));
  await cluster.clock.run(1000);
  return { cluster, client, primary, late, lost };
}

it("A node whose newest segment is gone does not help to vote away what it acknowledged in it.", async () => {
  const { cluster, primary, late, lost } = await twoSegments();
  cluster.passes = (packet) => !isPartitions(packet);
  cluster.kill(lost);
  await removeNewest(cluster.nodes[lost]!.disk);
  await cluster.startNode(lost);
  await cluster.until(() => cluster.broker(lost).shard.metadata.primary === primary);
  await cluster.group(lost, 0);
  // It may be killed before it can speak, and knows it still.
  cluster.kill(lost);
  await cluster.startNode(lost);
  await cluster.group(lost, 0);
  cluster.kill(primary);
  cluster.passes = () => true;
  await cluster.clock.run(30_000);
  assert.ok((await groupsOf(cluster, [late, lost])).every(({ isPrimary }) => !isPrimary));
  await cluster.startNode(primary);
  await demandTexts(cluster, ["a", "b"]);
  await cluster.stop();
});

it("A node whose newest segment is gone gets from the others what was in it, and counts again from then on.", async () => {
  const { cluster, client, primary, lost } = await twoSegments();
  cluster.passes = () => true;
  cluster.kill(lost);
  await removeNewest(cluster.nodes[lost]!.disk);
  await cluster.drive(client.ok("SendMessages", sendBody(["c"])));
  await cluster.startNode(lost);
  await demandTexts(cluster, ["a", "b", "c"]);
  cluster.kill(primary);
  const others = NODES.filter((at) => at !== primary);
  await cluster.until(() => others.some((at) => cluster.groupNow(at, 0)?.isPrimary === true));
  await cluster.startNode(primary);
  await demandTexts(cluster, ["a", "b", "c"]);
  await cluster.stop();
});
