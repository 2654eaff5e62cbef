import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { DiskCall, SimDisk } from "@millrace/platform/sim";
import { encodeCreateStream, encodeRepairPartition } from "@millrace/protocol";
import { newWriter, type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

type Errno = "ENOSPC" | "EIO";

/** Writes to files whose path begins so fail. */
function fails(cluster: TestCluster, at: number, beginning: string, errno: Errno): void {
  const faults = ({ kind, path }: DiskCall) =>
    kind === "write" && path.startsWith(beginning) ? ({ kind: "error", errno } as const) : undefined;
  cluster.nodes[at]?.disk.setFaults(faults);
}

function works(cluster: TestCluster, at: number): void {
  cluster.nodes[at]?.disk.setFaults(undefined);
}

const PARTITIONS = "streams/";
const MIB = 1_048_576;
const VIEWS = "metadata/views";
const METADATA_JOURNAL = "metadata/journal";
const PLACE = { stream: { kind: "numeric", id: 0 }, topic: { kind: "numeric", id: 0 } } as const;
const REPAIR = encodeRepairPartition({ ...PLACE, partitionId: 0, offsets: "proven" });

async function send(cluster: TestCluster, client: TestClient, text: string): Promise<void> {
  await cluster.drive(client.ok("SendMessages", sendBody([text])));
}

/** Every node comes to hold these texts. */
async function holdsEverywhere({ cluster }: SmallCluster, texts: readonly string[]): Promise<void> {
  for (const at of [0, 1, 2]) {
    const group = await cluster.group(at, 0);
    await cluster.until(() => group.partition?.committedNextOffset === texts.length);
    const client = await cluster.login(at, BigInt(200 + at));
    const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody())));
    assert.deepEqual(messages.map(({ text }) => text), texts, `node ${at}`); // biome-ignore format: one line
  }
}

const silentOf = ({ cluster }: SmallCluster, at: number) => cluster.silentGroups(at);

describe("A replica whose disk fails", () => {
  it("is silent while a full disk refuses its journal, and goes on by itself when there is space.", async () => {
    const parts = await smallCluster();
    const { cluster, client, backups } = parts;
    await send(cluster, client, "a");
    fails(cluster, backups[0], PARTITIONS, "ENOSPC");
    await send(cluster, client, "b");
    await cluster.until(() => silentOf(parts, backups[0]) === 1);
    await send(cluster, client, "c");
    works(cluster, backups[0]);
    await cluster.until(() => silentOf(parts, backups[0]) === 0);
    await holdsEverywhere(parts, ["a", "b", "c"]);
    cluster.kill(backups[1]);
    await send(cluster, client, "d");
    assert.equal(parts.groups[backups[0]]?.partition?.lastOp, 4, "it counts again");
    await cluster.stop();
  });

  it("leaves its place to another when it was primary, and is filled again.", async () => {
    const parts = await smallCluster();
    const { cluster, client, primary, backups } = parts;
    await send(cluster, client, "a");
    fails(cluster, primary, PARTITIONS, "ENOSPC");
    const lost = client.command("SendMessages", sendBody(["lost"]));
    assert.equal((await cluster.drive(lost)).code, ErrorCode.TransientNotCommitted, "others may commit it");
    assert.equal(parts.groups[primary]?.isPrimary, false);
    const writer = await newWriter(cluster, backups);
    await send(cluster, writer.client, "b");
    works(cluster, primary);
    await cluster.until(() => silentOf(parts, primary) === 0);
    const texts = (await cluster.group(writer.at, 0)).partition?.committedNextOffset === 2;
    await holdsEverywhere(parts, texts ? ["a", "b"] : ["a", "lost", "b"]);
    await cluster.stop();
  });

  it("waits for space with the view that it is to note, then takes part in it.", async () => {
    const parts = await smallCluster();
    const { cluster, client, primary, backups } = parts;
    await send(cluster, client, "a");
    for (const at of backups) fails(cluster, at, VIEWS, "ENOSPC");
    cluster.kill(primary);
    await cluster.until(() => silentOf(parts, backups[0]) > 0 && silentOf(parts, backups[1]) > 0);
    for (const at of backups) works(cluster, at);
    const writer = await newWriter(cluster, backups);
    await send(cluster, writer.client, "b");
    for (const at of backups) assert.equal(silentOf(parts, at), 0);
    await cluster.stop();
  });

  it("stays silent after another error, and gives up when that lasts.", async () => {
    const parts = await smallCluster();
    const { cluster, client, backups } = parts;
    const [failing] = backups;
    cluster.kill(failing);
    cluster.wedgedTimeoutMs = 120_000;
    await cluster.startNode(failing);
    await cluster.group(failing, 0);
    await send(cluster, client, "a");
    fails(cluster, failing, PARTITIONS, "EIO");
    await send(cluster, client, "b");
    await cluster.until(() => silentOf(parts, failing) === 1);
    works(cluster, failing);
    await cluster.clock.run(60_000);
    assert.equal(silentOf(parts, failing), 1);
    assert.deepEqual(cluster.wedged, []);
    await cluster.clock.run(61_000);
    assert.deepEqual(cluster.wedged.map(({ at }) => at), [failing]); // biome-ignore format: one line
    cluster.kill(failing);
    await cluster.startNode(failing);
    await holdsEverywhere(parts, ["a", "b"]);
    await cluster.stop();
  });

  it("answers 58 at once and passes nothing on, and is not repaired.", async () => {
    const { cluster, client, backups } = await smallCluster();
    const [failing] = backups;
    await send(cluster, client, "a");
    const onBackup = await cluster.login(failing, 60n);
    fails(cluster, failing, PARTITIONS, "EIO");
    await send(cluster, client, "b");
    await cluster.until(() => cluster.silentGroups(failing) === 1);
    const answer = onBackup.command("SendMessages", sendBody(["c"]));
    await cluster.clock.run(5);
    assert.equal((await answer).code, ErrorCode.TransientNotAccepted);
    const repaired = await cluster.drive(onBackup.command("RepairPartition", REPAIR));
    assert.equal(repaired.code, ErrorCode.FileFenced);
    await cluster.stop();
  });

  it("counts no more once its partition is deleted, also when a write fails behind that.", async () => {
    const { cluster, client, groups, backups } = await smallCluster();
    const [failing] = backups;
    const group = groups[failing];
    const node = cluster.nodes[failing];
    assert.ok(group !== undefined && node !== undefined);
    await send(cluster, client, "a");
    node.diskLatencyMaxMs = 50;
    fails(cluster, failing, PARTITIONS, "ENOSPC");
    await send(cluster, client, "b");
    await cluster.until(() => group.partition?.lastOp === 2);
    assert.equal(cluster.silentGroups(failing), 0, "the write is on its way");
    await cluster.drive(group.close());
    assert.notEqual(group.fault, undefined, "and has failed");
    assert.equal(cluster.silentGroups(failing), 0);
    await cluster.stop();
  });

  it("leads the metadata no more while a full disk refuses their journal, and goes on by itself later.", async () => {
    const parts = await smallCluster();
    const { cluster, client, primary, backups } = parts;
    fails(cluster, primary, METADATA_JOURNAL, "ENOSPC");
    const asked = client.command("CreateStream", encodeCreateStream({ name: "second", options: [] }));
    assert.equal((await cluster.drive(asked)).code, ErrorCode.TransientNotCommitted, "others may commit it");
    const { metadata } = cluster.broker(primary).shard;
    assert.deepEqual([metadata.isPrimary, metadata.primary], [false, undefined]);
    assert.equal(silentOf(parts, primary), 1);
    await cluster.until(() => backups.some((at) => cluster.broker(at).shard.metadata.isPrimary));
    const leader = backups.find((at) => cluster.broker(at).shard.metadata.isPrimary) ?? -1;
    const other = await cluster.login(leader, 70n);
    await cluster.drive(other.ok("CreateStream", encodeCreateStream({ name: "third", options: [] })));
    await cluster.clock.run(20_000);
    assert.equal(silentOf(parts, primary), 1, "it was tried again and found no space");
    works(cluster, primary);
    await cluster.until(() => silentOf(parts, primary) === 0 && metadata.primary !== undefined);
    await cluster.until(() => metadata.commit === cluster.broker(leader).shard.metadata.commit);
    assert.ok(metadata.catalog.streams().some(({ name }) => name === "third"));
    const [idle] = backups.filter((at) => at !== leader) as [number];
    cluster.kill(idle);
    await cluster.drive(other.ok("CreateStream", encodeCreateStream({ name: "fourth", options: [] })));
    await cluster.until(() => metadata.catalog.streams().some(({ name }) => name === "fourth"));
    await cluster.stop();
  });

  it("whose partition opens for reading only on a full disk takes part once there is space.", async () => {
    const parts = await smallCluster();
    const { cluster, client, backups } = parts;
    const [failing] = backups;
    await send(cluster, client, "a");
    await send(cluster, client, "b");
    await cluster.until(() => parts.groups[failing]?.partition?.lastOp === 2);
    cluster.kill(failing);
    const disk = cluster.nodes[failing]?.disk;
    assert.ok(disk !== undefined);
    const path = await opsOf(disk);
    // A torn record, which is kept aside before it is cut.
    await disk.writeWhole(path, Uint8Array.from([...((await disk.readWhole(path, MIB)) ?? []), 1, 2, 3]));
    fails(cluster, failing, "quarantine", "ENOSPC");
    await cluster.startNode(failing);
    await cluster.until(() => silentOf(parts, failing) === 1);
    await send(cluster, client, "c");
    await cluster.clock.run(20_000);
    assert.equal(silentOf(parts, failing), 1, "it was tried again and found no space");
    works(cluster, failing);
    await cluster.until(() => silentOf(parts, failing) === 0);
    await holdsEverywhere(parts, ["a", "b", "c"]);
    cluster.kill(backups[1]);
    await send(cluster, client, "d");
    await cluster.stop();
  });
});

/** The op records of partition 0. */
async function opsOf(disk: SimDisk): Promise<string> {
  const folder = "streams/0/topics/0/partitions";
  const [partition] = await disk.readDirectory(folder);
  return `${folder}/${partition?.name}/${"0".padStart(20, "0")}.ops`;
}
