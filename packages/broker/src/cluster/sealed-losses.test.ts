import assert from "node:assert/strict";
import { it } from "node:test";
import { isPartitions, smallCluster } from "../testing/small-cluster.ts";
import { syncNames } from "../testing/sync-names.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { fillSegments, HALF_SEGMENT } from "../testing/test-topics.ts";

const TEXTS = [HALF_SEGMENT, HALF_SEGMENT, "tail"];

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
  for (const at of [lost, late]) {
    const group = await cluster.group(at, 0);
    await cluster.until(() => group.partition?.committedNextOffset === TEXTS.length);
    const reader = await cluster.login(at, BigInt(300 + at));
    const texts: string[] = [];
    for (const offset of TEXTS.keys()) {
      const poll = pollBody({ strategy: { kind: "offset", offset: BigInt(offset) }, count: 1 });
      texts.push(
        ...polled(await cluster.drive(reader.ok("PollMessages", poll))).messages.map(({ text }) => text),
      );
    }
    assert.deepEqual(texts, TEXTS, `node ${at}`);
  }
  await cluster.stop();
});
