import assert from "node:assert/strict";
import { it } from "node:test";
import type { SimDisk } from "@millrace/platform/sim";
import { groupsOf, isPartitions, newWriter, smallCluster } from "../testing/small-cluster.ts";
import { syncNames } from "../testing/sync-names.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { fillSegments, HALF_SEGMENT } from "../testing/test-topics.ts";

const NODES = [0, 1, 2] as const;
const SEEDS = 12;
const PARTITIONS = "streams/0/topics/0/partitions";
const TEXTS = [HALF_SEGMENT, HALF_SEGMENT, "tail"];

/** Lets time pass until a node has all texts, and reads them there. */
async function demandTexts(cluster: TestCluster, at: number): Promise<void> {
  const group = await cluster.group(at, 0);
  await cluster.until(() => group.partition?.committedNextOffset === TEXTS.length);
  const reader = await cluster.login(at, BigInt(300 + at));
  const texts: string[] = [];
  for (const offset of TEXTS.keys()) {
    const poll = pollBody({ strategy: { kind: "offset", offset: BigInt(offset) }, count: 1 });
    const answer = await cluster.drive(reader.ok("PollMessages", poll));
    texts.push(...polled(answer).messages.map(({ text }) => text));
  }
  assert.deepEqual(texts, TEXTS, `node ${at}`);
}

it("A node that lost power behind the end of a segment has all of that segment, or fetches it first.", async () => {
  const { cluster, client, primary, backups } = await smallCluster();
  const [late, lost] = backups;
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  await cluster.drive(fillSegments(client, 1));
  await cluster.clock.run(1000);
  await syncNames(cluster.nodes[lost]!.disk);
  cluster.crash(lost, { keep: "none" });
  await cluster.startNode(lost);
  await cluster.until(() => cluster.groupNow(lost, 0)?.replica?.status === "normal");
  cluster.wipe(primary);
  cluster.passes = () => true;
  for (const at of [lost, late]) await demandTexts(cluster, at);
  await cluster.stop();
});

it("A node of which a loss of power took a part from the middle of a partition comes back by itself.", async () => {
  const { cluster, client, backups } = await smallCluster();
  const [lost] = backups;
  for (const text of TEXTS) await cluster.drive(client.ok("SendMessages", sendBody([text.slice(0, 2000)])));
  await cluster.clock.run(1000);
  cluster.crash(lost, { keep: "all" });
  await loseSector(cluster.nodes[lost]!.disk);
  await cluster.startNode(lost);
  const group = await cluster.group(lost, 0);
  await cluster.until(() => group.replica?.status === "normal" && group.partition?.committedNextOffset === 3);
  assert.equal(cluster.silentGroups(lost), 0);
  const reader = await cluster.login(lost, 300n);
  const { messages } = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
  assert.deepEqual(
    messages.map(({ text }) => text),
    TEXTS.map((text) => text.slice(0, 2000)),
  );
  await cluster.stop();
});

it("Nodes that all lose power at once, and any part of what was not synced, go on when all are there.", async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { cluster, client } = await smallCluster(1, { seed });
    for (let count = 0; count < 6; count += 1)
      await cluster.drive(client.ok("SendMessages", sendBody([`${count}`.padEnd(2000, "-")])));
    await cluster.clock.run(1000);
    for (const at of NODES) {
      await syncNames(cluster.nodes[at]!.disk);
      cluster.crash(at);
    }
    await Promise.all(NODES.map((at) => cluster.startNode(at)));
    const writer = await newWriter(cluster, NODES);
    await cluster.drive(writer.client.ok("SendMessages", sendBody(["behind"])));
    const groups = await groupsOf(cluster);
    const end = writer.group.partition?.committedNextOffset;
    await cluster.until(() => groups.every(({ partition }) => partition?.committedNextOffset === end));
    assert.deepEqual(
      NODES.map((at) => cluster.silentGroups(at)),
      [0, 0, 0],
      `seed ${seed}`,
    );
    await cluster.stop();
  }
});

/** A sector of the second message never reached the disk; the third did. */
async function loseSector(disk: SimDisk): Promise<void> {
  const folders = await disk.readDirectory(PARTITIONS);
  const file = await disk.openFile(`${PARTITIONS}/${folders[0]?.name}/${"0".repeat(20)}.log`, "read-write");
  await new Promise<void>((resolve, reject) =>
    file.write([new Uint8Array(512)], 3072, (error) => (error === undefined ? resolve() : reject(error))),
  );
  await file.close();
}
