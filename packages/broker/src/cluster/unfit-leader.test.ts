import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DiskCall, SimClock } from "@millrace/platform/sim";
import type { ClusterGroups } from "@millrace/protocol";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { newWriter, type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { FOLDER, HARMS, openedOn, REPAIR, written } from "./damaged-partitions-fixture.test.ts";
import type { GroupStandings } from "./group-standings.ts";
import { UnfitLeader } from "./unfit-leader.ts";

/** Damage that keeps a partition from being written. */
const HARM = HARMS["a bit of the active segment's records"];

const isMetadataPrimary = (cluster: TestCluster, at: number) => cluster.broker(at).shard.metadata.isPrimary;

/** Nothing of partitions can be written on the node any more; its metadata can. */
function fill(cluster: TestCluster, at: number): void {
  const faults = ({ kind, path }: DiskCall) =>
    kind === "write" && path.startsWith("streams/")
      ? ({ kind: "error", errno: "ENOSPC" } as const)
      : undefined;
  cluster.nodes[at]?.disk.setFaults(faults);
}

function empty(cluster: TestCluster, at: number): void {
  cluster.nodes[at]?.disk.setFaults(undefined);
}

const PARTITIONS_COUNT = 4;

/** Three nodes, node 0 leads the metadata; on each of them these of the four partitions are damaged. */
async function harmed(lacked: readonly (readonly number[])[]): Promise<SmallCluster> {
  const parts = await smallCluster(PARTITIONS_COUNT);
  const { cluster, client } = parts;
  for (let partition = 0; partition < PARTITIONS_COUNT; partition += 1)
    for (const text of ["a", "b", "c"]) {
      const body = sendBody([text], { partitioning: { kind: "partition", partitionId: partition } });
      await cluster.drive(client.ok("SendMessages", body));
    }
  await cluster.clock.run(5000);
  for (const [at, partitions] of lacked.entries()) {
    cluster.kill(at);
    for (const partition of partitions) await harm(cluster, at, partition);
  }
  for (const at of lacked.keys()) await cluster.startNode(at);
  await cluster.until(() => lacked.every((partitions, at) => silentOn(cluster, at) === partitions.length));
  await cluster.clock.run(20_000);
  const { metadata } = cluster.broker(0).shard;
  await cluster.until(() => {
    metadata.hear({ kind: "lead" });
    return metadata.isPrimary;
  });
  return parts;
}

/** A bit of a partition's records on a node. */
async function harm(cluster: TestCluster, at: number, partition: number): Promise<void> {
  const { disk } = cluster.nodes[at]!;
  const names = (await disk.readDirectory(FOLDER)).map(({ name }) => name);
  const folder = `${FOLDER}/${names.sort()[partition]}`;
  const ops = (await disk.readDirectory(folder)).find(({ name }) => name.endsWith(".ops"));
  disk.flipBit(`${folder}/${ops?.name}`, 8 * 200);
}

function silentOn(cluster: TestCluster, at: number): number {
  const groups = [0, 1, 2, 3].map((partition) => cluster.groupNow(at, partition));
  return groups.filter((group) => group?.fault !== undefined).length;
}

async function send({ cluster, client }: SmallCluster, text: string): Promise<number> {
  return (await cluster.drive(client.command("SendMessages", sendBody([text])))).code;
}

describe("A node that leads the metadata and takes no part in a partition", () => {
  it("hands the metadata over to one that does, so that clients are sent there.", async () => {
    const parts = await smallCluster();
    const { cluster, primary, backups } = parts;
    fill(cluster, primary);
    await send(parts, "lost or not");
    const now = await cluster.until(() => backups.find((at) => isMetadataPrimary(cluster, at)));
    const client = await cluster.login(now, 60n);
    await cluster.drive(client.ok("SendMessages", sendBody(["b"])));
    empty(cluster, primary);
    await cluster.until(() => cluster.silentGroups(primary) === 0);
    await cluster.clock.run(60_000);
    assert.ok(isMetadataPrimary(cluster, now), "and does not ask for it again");
    await cluster.stop();
  });

  it("keeps it for as long as no other node takes part in more of them.", async () => {
    const parts = await written();
    const { cluster } = parts;
    const nodes = [0, 1, 2];
    for (const at of nodes) cluster.kill(at);
    for (const at of nodes) await HARM?.(cluster.nodes[at]!.disk);
    for (const at of nodes) await cluster.startNode(at);
    for (const at of nodes) await openedOn(parts, at);
    const leads = await cluster.metadataPrimary();
    const { view } = cluster.broker(leads).shard.metadata;
    await cluster.clock.run(60_000);
    assert.ok(isMetadataPrimary(cluster, leads));
    assert.equal(cluster.broker(leads).shard.metadata.view, view, "no election");
    await cluster.stop();
  });

  it("hands it over to one that lacks nothing, not to one that lacks others.", async () => {
    const { cluster } = await harmed([[3], [0, 1], []]);
    const next = await cluster.until(() => [1, 2].find((at) => isMetadataPrimary(cluster, at)));
    assert.equal(next, 2);
    await cluster.stop();
  });

  it("keeps it when each of the others lacks as much, of other partitions.", async () => {
    const { cluster } = await harmed([[3], [0, 1], [2]]);
    const { view } = cluster.broker(0).shard.metadata;
    await cluster.clock.run(60_000);
    assert.equal(cluster.broker(0).shard.metadata.view, view, "no election");
    await cluster.stop();
  });

  it("does not hand it over for a moment's trouble.", async () => {
    const parts = await smallCluster();
    const { cluster, primary, backups } = parts;
    fill(cluster, primary);
    await send(parts, "lost or not");
    empty(cluster, primary);
    await cluster.until(() => cluster.silentGroups(primary) === 0);
    await newWriter(cluster, [primary, ...backups]);
    await cluster.clock.run(10_000);
    assert.ok(isMetadataPrimary(cluster, primary));
    await cluster.stop();
  });

  it("hands it over when the files of a partition are damaged, until they are repaired.", async () => {
    const parts = await written();
    const { cluster, backups } = parts;
    const [damaged] = backups;
    cluster.kill(damaged);
    await HARM?.(cluster.nodes[damaged]!.disk);
    await cluster.startNode(damaged);
    await openedOn(parts, damaged);
    const { metadata } = cluster.broker(damaged).shard;
    await cluster.until(() => {
      metadata.hear({ kind: "lead" });
      return metadata.isPrimary;
    });
    const leads = await cluster.until(() =>
      [0, 1, 2].find((at) => at !== damaged && isMetadataPrimary(cluster, at)),
    );
    await newWriter(cluster, [leads]);
    const onDamaged = await cluster.login(damaged, 62n);
    await cluster.drive(onDamaged.ok("RepairPartition", REPAIR));
    await cluster.drive(onDamaged.ok("SendMessages", sendBody(["c"])));
    await cluster.stop();
  });

  it("compares what does not fit one answer, too, and nothing once it has ended.", async () => {
    const clock = new SimClock();
    const heard: unknown[] = [];
    const metadata = {
      isPrimary: true,
      hear: (input: unknown) => heard.push(input),
    } as unknown as MetadataPlane;
    const at = { view: 1, op: 0, commit: 0 };
    const [normal, silent] = [{ ...at, status: "normal" } as const, { ...at, status: "silent" } as const];
    const nodes = [0, 1, 2].map((replica) => ({ replica, metadata: normal }));
    const key = (partitionId: number) => ({ streamId: 0, topicId: 0, partitionId });
    // Node 0 lacks the last one of three, node 1 the first two of them.
    const pages: ClusterGroups[] = [
      {
        nodes,
        partitions: [0, 1].map((id) => ({ ...key(id), standings: [normal, silent, normal] })),
        next: key(1),
      },
      { nodes, partitions: [{ ...key(2), standings: [silent, normal, normal] }], next: undefined },
    ];
    const asked: unknown[] = [];
    const collect: GroupStandings["collect"] = ({ after }, done) => {
      asked.push(after?.partitionId);
      clock.setTimer(10, () => done(pages[after === undefined ? 0 : 1]!));
    };
    const groups = () => [{ isClosed: false } as PartitionGroup];
    const end = new UnfitLeader({ clock, metadata, standings: { collect }, replica: 0, groups }).start();
    await clock.run(3500);
    assert.deepEqual(asked, [undefined, 1]);
    assert.deepEqual(heard, [{ kind: "yield", to: 2 }]);
    end();
    await clock.run(60_000);
    assert.equal(asked.length, 2);
  });

  it("keeps it when it takes part again before all have answered.", async () => {
    const clock = new SimClock();
    const heard: unknown[] = [];
    const hear = (input: unknown) => heard.push(input);
    const metadata = { isPrimary: true, hear } as unknown as MetadataPlane;
    const normal = { status: "normal", view: 1, op: 0, commit: 0 } as const;
    const standings = [{ ...normal, status: "silent" } as const, normal];
    const partitions = [{ streamId: 0, topicId: 0, partitionId: 0, standings }];
    const nodes = [0, 1].map((replica) => ({ replica, metadata: normal }));
    const isBack = { now: false };
    const collect: GroupStandings["collect"] = (_page, done) =>
      void clock.setTimer(500, () => done({ nodes, partitions, next: undefined }));
    const groups = () => [(isBack.now ? { replica: normal } : {}) as PartitionGroup];
    const end = new UnfitLeader({ clock, metadata, standings: { collect }, replica: 0, groups }).start();
    await clock.run(3100);
    isBack.now = true;
    await clock.run(5000);
    assert.deepEqual(heard, []);
    end();
  });
});
