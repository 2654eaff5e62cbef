import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Packet } from "@millrace/platform/sim";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

const isOfPartition = ({ bytes }: Packet) => bytes[140] === 2;

/** A cluster whose metadata and partition 0 are led by different nodes. */
async function apart() {
  const cluster = await TestCluster.start();
  const leader = await cluster.metadataPrimary();
  const client = await cluster.login(leader);
  await cluster.drive(createSmallTopic(client));
  cluster.passes = (packet) => packet.from !== leader || !isOfPartition(packet);
  const groups = await Promise.all([0, 1, 2].map((at) => cluster.group(at, 0)));
  const other = await cluster.until(() => [0, 1, 2].find((at) => at !== leader && groups[at]?.isPrimary));
  cluster.passes = () => true;
  return { cluster, leader, client, other, groups };
}

describe("The leaders of a cluster", () => {
  it("come together on the node that leads the metadata, once they were apart for a while.", async () => {
    const { cluster, leader, groups, other } = await apart();
    await cluster.clock.run(3000);
    assert.equal(groups[other]?.isPrimary, true, "not at once");
    await cluster.until(() => groups[leader]?.isPrimary);
    await cluster.clock.run(1000);
    const views = groups.map(({ replica }) => replica?.view);
    assert.deepEqual(new Set(views).size, 1);
    await cluster.clock.run(60_000);
    assert.deepEqual(groups.map(({ replica }) => replica?.view), views, "and stay there"); // biome-ignore format: one line
    await cluster.stop();
  });

  it("take every send meanwhile, and keep the order of each connection.", async () => {
    const { cluster, leader, groups, other } = await apart();
    const clients = [await cluster.login(leader, 31n), await cluster.login(other, 32n)];
    const answers: Promise<number>[] = [];
    for (let count = 0; !groups[leader]?.isPrimary || count % 50 !== 0; count += 1) {
      for (const client of clients) {
        const text = `${client.client}.${count}`;
        answers.push(client.command("SendMessages", sendBody([text])).then(({ code }) => code));
      }
      await cluster.clock.run(2);
      assert.ok(count < 20_000, "it comes to lead");
    }
    const codes = await cluster.drive(Promise.all(answers));
    assert.deepEqual(codes.filter((code) => code !== 0), []); // biome-ignore format: one line
    const stored: string[] = [];
    for (let last = -1; stored.length !== last; ) {
      last = stored.length;
      const strategy = { kind: "offset", offset: BigInt(last) } as const;
      const payload = await cluster.drive(
        clients[0]!.ok("PollMessages", pollBody({ strategy, count: 10_000 })),
      );
      stored.push(...polled(payload).messages.map(({ text }) => text));
    }
    for (const { client } of clients) {
      const own = stored
        .filter((text) => text.startsWith(`${client}.`))
        .map((text) => Number(text.split(".")[1]));
      assert.deepEqual(own, own.map((_, at) => at)); // biome-ignore format: one line
    }
    assert.equal(stored.length, codes.length);
    await cluster.stop();
  });
});
