import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import { COMMITS_MAX } from "@millrace/protocol";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";
import { GatheredCommits } from "./gathered-commits.ts";

const commit = (partitionId: number) => ({
  partition: { streamId: 0, topicId: 0, partitionId, revision: 1 },
  ...{ view: 0, commit: 1, commitChecksum: 2n },
});

describe("Commits that are gathered", () => {
  it("go to each node in as few messages as hold them.", () => {
    const gathered = new GatheredCommits();
    for (let id = 0; id <= COMMITS_MAX; id += 1) gathered.add(1, commit(id));
    gathered.add(2, commit(7));
    const sent: [number, number][] = [];
    gathered.flush((to, commits) => sent.push([to, commits.length]));
    assert.deepEqual(sent, [[1, COMMITS_MAX], [1, 1], [2, 1]]); // biome-ignore format: one line
  });

  it("keep many idle partitions of a cluster in their view with few messages.", async () => {
    const cluster = await TestCluster.start();
    const client = await cluster.login(await cluster.metadataPrimary());
    await cluster.drive(createSmallTopic(client, {}, 50));
    for (const at of [0, 1, 2]) await cluster.group(at, 49);
    await cluster.clock.run(1000);
    const counts = new Map<number, number>();
    cluster.passes = ({ bytes }) => {
      counts.set(bytes[60]!, (counts.get(bytes[60]!) ?? 0) + 1);
      return true;
    };
    await cluster.clock.run(10_000);
    const groups = await Promise.all([0, 1, 2].map((at) => cluster.group(at, 49)));
    assert.deepEqual(groups.map(({ replica }) => replica?.view), [0, 0, 0].map(() => groups[0]?.replica?.view)); // biome-ignore format: one line
    const [single = 0, many = 0] = [ReplicaCommand.commit, ReplicaCommand.commits].map((one) =>
      counts.get(one),
    );
    assert.ok(single <= 2 * 21, `${single} of the metadata, two each half second`);
    assert.ok(many > 0 && many <= (50 * 2 * 20) / 2, `${many} of fifty partitions`);
    await cluster.stop();
  });
});
