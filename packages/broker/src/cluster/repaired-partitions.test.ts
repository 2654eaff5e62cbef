import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { SimDisk } from "@millrace/platform/sim";
import {
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  encodeRepairPartition,
  encodeVerifyPartition,
  toIdentifier,
} from "@millrace/protocol";
import { newWriter, type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { fillSegments, storeBody } from "../testing/test-topics.ts";

const FOLDER = "streams/0/topics/0/partitions";
const PLACE = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
const REPAIR = encodeRepairPartition({ ...PLACE, offsets: "proven" });
const FROM_START = { segment: 0, opsPosition: 0, logPosition: 0 };
const VERIFY = encodeVerifyPartition({ ...PLACE, from: FROM_START, lengthMax: 16_777_216 });

/** Files of partition 0, oldest first. */
async function filesOf(disk: SimDisk, ending: string): Promise<string[]> {
  const [folder] = await disk.readDirectory(FOLDER);
  const path = `${FOLDER}/${folder?.name}`;
  const names = (await disk.readDirectory(path))
    .map(({ name }) => name)
    .filter((name) => name.endsWith(ending));
  return names.sort().map((name) => `${path}/${name}`);
}

type Harm = (disk: SimDisk) => Promise<void>;

const flip =
  (ending: string, segment: number, byte: number): Harm =>
  async (disk) => {
    const path = (await filesOf(disk, ending)).at(segment) ?? "";
    disk.flipBit(path, 8 * byte);
  };

const HARMS: Readonly<Record<string, Harm>> = {
  "a bit of a sealed segment's messages": flip(".log", 0, 5000),
  "a bit of a sealed segment's records": flip(".ops", 0, 200),
  "a bit of the active segment's messages": flip(".log", -1, 300),
  "a bit of the active segment's records": flip(".ops", -1, 200),
  "a file of messages that is gone": async (disk) => disk.removeFile((await filesOf(disk, ".log"))[0] ?? ""),
  "a file of records that is gone": async (disk) => disk.removeFile((await filesOf(disk, ".ops"))[0] ?? ""),
};

/** Three nodes that hold some segments and a stored offset. */
async function written(): Promise<SmallCluster> {
  const parts = await smallCluster();
  const { cluster, client } = parts;
  await cluster.drive(fillSegments(client, 2));
  for (let at = 0; at < 20; at += 1) await cluster.drive(client.ok("SendMessages", sendBody([`m${at}`])));
  await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 5)));
  await levelled(parts);
  return parts;
}

/** Every node has committed what the others have. */
async function levelled({ cluster }: SmallCluster): Promise<void> {
  const opOf = (at: number) => cluster.groupNow(at, 0)?.partition?.committedOp;
  await cluster.until(() => opOf(0) !== undefined && opOf(0) === opOf(1) && opOf(0) === opOf(2));
}

/** The group on a node that was started, once it is open or could not be opened. */
function openedOn({ cluster }: SmallCluster, at: number) {
  return cluster.until(() => {
    const group = cluster.groupNow(at, 0);
    return group?.partition === undefined && group?.fault === undefined ? undefined : group;
  });
}

/** Everything a node shows of the partition. */
async function shownBy({ cluster }: SmallCluster, at: number, client = 400n + BigInt(at)) {
  const reader = await cluster.login(at, client);
  const texts: string[] = [];
  for (let offset = 0n; ; ) {
    const body = pollBody({ strategy: { kind: "offset", offset }, count: 10 });
    const { messages } = polled(await cluster.drive(reader.ok("PollMessages", body)));
    if (messages.length === 0) break;
    texts.push(...messages.map(({ text }) => text.slice(0, 30)));
    offset = BigInt((messages.at(-1)?.offset ?? 0) + 1);
  }
  const partition = cluster.groupNow(at, 0)?.partition;
  reader.close();
  return { texts, op: partition?.committedOp, offset: partition?.consumerOffset(1, 7) };
}

async function equalEverywhere(parts: SmallCluster): Promise<void> {
  await levelled(parts);
  const first = await shownBy(parts, 0);
  for (const at of [1, 2]) assert.deepEqual(await shownBy(parts, at), first, `node ${at}`);
}

async function repair({ cluster }: SmallCluster, at: number, client = 500n + BigInt(at)) {
  const operator = await cluster.login(at, client);
  const { code, payload } = await cluster.drive(operator.command("RepairPartition", REPAIR));
  operator.close();
  return code === 0 ? decodeRepairPartitionReply(payload) : { code, text: new TextDecoder().decode(payload) };
}

async function damagesOn({ cluster }: SmallCluster, at: number): Promise<number> {
  const operator = await cluster.login(at, 600n + BigInt(at));
  const { damages, fault } = decodeVerifyPartitionReply(
    await cluster.drive(operator.ok("VerifyPartition", VERIFY)),
  );
  operator.close();
  return damages.length + (fault === "" ? 0 : 1);
}

describe("A damaged partition on a node of a cluster", () => {
  for (const [what, harm] of Object.entries(HARMS)) {
    it(`gets back from the others what it lost: ${what}`, async () => {
      const parts = await written();
      const { cluster, client, backups } = parts;
      const [at] = backups;
      cluster.kill(at);
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await harm(disk);
      await cluster.drive(client.ok("SendMessages", sendBody(["while it was away"])));
      await cluster.startNode(at);
      const group = await openedOn(parts, at);
      assert.ok(group.partition === undefined || (await damagesOn(parts, at)) > 0, "the damage is told");
      const reply = await repair(parts, at);
      assert.ok("outcome" in reply, JSON.stringify(reply));
      assert.equal(reply.outcome, "fetched");
      assert.notEqual(reply.damage, "");
      assert.equal(await damagesOn(parts, at), 0);
      await equalEverywhere(parts);
      cluster.kill(backups[1]);
      await cluster.drive(client.ok("SendMessages", sendBody(["it counts again"])));
      await cluster.startNode(backups[1]);
      await equalEverywhere(parts);
      await cluster.stop();
    });
  }

  it("is repaired on the node that leads it, which hands it over first.", async () => {
    const parts = await written();
    const { cluster, primary } = parts;
    const disk = cluster.nodes[primary]?.disk;
    assert.ok(disk !== undefined);
    await flip(".log", 0, 5000)(disk);
    const reply = await repair(parts, primary);
    assert.ok("outcome" in reply, JSON.stringify(reply));
    assert.equal(reply.outcome, "fetched");
    assert.equal(await damagesOn(parts, primary), 0);
    await equalEverywhere(parts);
    await cluster.stop();
  });

  it("that is whole has nothing to repair, and is not touched.", async () => {
    const parts = await written();
    const { cluster, primary, backups } = parts;
    for (const at of [primary, backups[0]]) {
      const before = cluster.groupNow(at, 0)?.partition;
      const reply = await repair(parts, at);
      assert.ok("outcome" in reply);
      assert.deepEqual([reply.outcome, reply.damage], ["healthy", ""]);
      assert.equal(cluster.groupNow(at, 0)?.partition, before);
    }
    await cluster.stop();
  });

  for (const isSilent of [false, true]) {
    it(`is left as it is while the others could not go on without it, silent: ${isSilent}`, async () => {
      const parts = await written();
      const { cluster, backups } = parts;
      const [at, other] = backups;
      cluster.kill(at);
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await flip(isSilent ? ".ops" : ".log", isSilent ? -1 : 0, isSilent ? 200 : 5000)(disk);
      await cluster.startNode(at);
      const group = await openedOn(parts, at);
      const operator = await cluster.login(at, 700n);
      await cluster.until(() => isSilent || group.replica?.status === "normal");
      cluster.kill(other);
      const before = group.partition;
      const { code, payload } = await cluster.drive(operator.command("RepairPartition", REPAIR));
      assert.equal(code, ErrorCode.PartitionDamaged);
      assert.match(new TextDecoder().decode(payload), /2 other nodes .* start those that are missing/);
      assert.equal(group.partition, before);
      await cluster.startNode(other);
      await cluster.until(() => cluster.groupNow(other, 0)?.replica?.status === "normal");
      const reply = await repair(parts, at);
      assert.equal("outcome" in reply && reply.outcome, "fetched");
      await equalEverywhere(parts);
      await cluster.stop();
    });
  }

  it("takes no damaged bytes from a node that is damaged itself: it asks the other one.", async () => {
    const parts = await written();
    const { cluster, primary, backups } = parts;
    for (const [at, byte] of [
      [backups[0], 5000],
      [primary, 300_000],
    ] as const) {
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await flip(".log", 0, byte)(disk);
    }
    const reply = await repair(parts, backups[0]);
    assert.equal("outcome" in reply && reply.outcome, "fetched");
    assert.equal(await damagesOn(parts, backups[0]), 0);
    assert.ok((await damagesOn(parts, primary)) > 0, "the one that leads is damaged as before");
    const led = await repair(parts, primary);
    assert.equal("outcome" in led && led.outcome, "fetched");
    await equalEverywhere(parts);
    await cluster.stop();
  });

  it("that stays silent does not vote, and keeps what it acknowledged out of nobody's log.", async () => {
    const parts = await written();
    const { cluster, primary, backups, client } = parts;
    const [at, other] = backups;
    cluster.passes = ({ from, to }) => from !== other && to !== other;
    await cluster.drive(client.ok("SendMessages", sendBody(["only two have it"])));
    cluster.kill(at);
    const disk = cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    await flip(".ops", -1, 200)(disk);
    cluster.passes = () => true;
    cluster.kill(primary);
    await cluster.startNode(at);
    await openedOn(parts, at);
    await cluster.clock.run(20_000);
    assert.equal(cluster.groupNow(other, 0)?.isPrimary, false, "nobody leads without the one that has it");
    assert.equal(cluster.groupNow(at, 0)?.replica, undefined, "it could not be opened");
    await cluster.startNode(primary);
    await newWriter(cluster, [primary, other]);
    const reply = await repair(parts, at);
    assert.equal("outcome" in reply && reply.outcome, "fetched");
    await equalEverywhere(parts);
    assert.ok((await shownBy(parts, at, 900n)).texts.includes("only two have it"));
    await cluster.stop();
  });

  it("whose files are gone does not say that it never had what it acknowledged.", async () => {
    const parts = await written();
    const { cluster, primary, backups, client } = parts;
    const [at, other] = backups;
    cluster.passes = ({ from, to }) => from !== other && to !== other;
    await cluster.drive(client.ok("SendMessages", sendBody(["only two have it"])));
    cluster.kill(at);
    cluster.kill(primary);
    const disk = cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    const [folder] = await disk.readDirectory(FOLDER);
    await disk.removeDirectory(`${FOLDER}/${folder?.name}`);
    cluster.passes = () => true;
    await cluster.startNode(at);
    await openedOn(parts, at);
    await cluster.clock.run(20_000);
    const leads = [at, other].filter((node) => cluster.groupNow(node, 0)?.isPrimary);
    assert.deepEqual(leads, [], "nobody leads without a node that has it");
    await cluster.startNode(primary);
    await newWriter(cluster, [0, 1, 2]);
    await equalEverywhere(parts);
    assert.ok((await shownBy(parts, at, 900n)).texts.includes("only two have it"));
    await cluster.stop();
  });
});
