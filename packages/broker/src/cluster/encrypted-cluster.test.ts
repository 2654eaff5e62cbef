import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BATCH_HEADER_LENGTH, batchLengthAt, FRAME_HEADER_LENGTH } from "@millrace/framing";
import type { SimDisk } from "@millrace/platform/sim";
import { toHex, utf8 } from "@millrace/testkit";
import { partitionPath } from "../partition-plane/partition-path.ts";
import { newWriter, type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import type { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const NODES = [0, 1, 2] as const;
const KEY = new Uint8Array(32).fill(7);
const CANARY = "canary-of-the-mine";
const FILE_LENGTH_MAX = 100_000_000;
/** First byte of the seal in a stored batch, which begins with the nonce. */
const NONCE_AT = BATCH_HEADER_LENGTH + FRAME_HEADER_LENGTH;
const NONCE_LENGTH = 24;

function encrypted(): Promise<SmallCluster> {
  return smallCluster(1, { key: KEY });
}

const textOf = (name: string) => `${CANARY} ${name}`;

async function send(cluster: TestCluster, client: TestClient, ...names: string[]): Promise<void> {
  await cluster.drive(client.ok("SendMessages", sendBody(names.map(textOf))));
}

/** Every file of a disk with its bytes. */
async function filesOf(disk: SimDisk, folder = ""): Promise<[path: string, bytes: Uint8Array][]> {
  const files: [string, Uint8Array][] = [];
  for (const { name, kind } of await disk.readDirectory(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (kind === "directory") files.push(...(await filesOf(disk, path)));
    else files.push([path, (await disk.readWhole(path, FILE_LENGTH_MAX)) ?? new Uint8Array()]);
  }
  return files;
}

function diskOf(cluster: TestCluster, at: number): SimDisk {
  const disk = cluster.nodes[at]?.disk;
  assert.ok(disk !== undefined);
  return disk;
}

/** Stored batches of partition 0 on a node, in hex. */
async function batchesOn(cluster: TestCluster, at: number): Promise<string[]> {
  const { identity } = await cluster.group(at, 0);
  const batches: string[] = [];
  for (const [path, bytes] of await filesOf(diskOf(cluster, at), partitionPath(identity))) {
    if (!path.endsWith(".log")) continue;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let from = 0; from < bytes.length; from += batchLengthAt(view, from))
      batches.push(toHex(bytes.subarray(from, from + batchLengthAt(view, from))));
  }
  return batches;
}

function nonceOf(batch: string): string {
  return batch.slice(2 * NONCE_AT, 2 * (NONCE_AT + NONCE_LENGTH));
}

/** What a client reads on a node once that knows so many messages to be committed. */
async function seenOn(cluster: TestCluster, at: number, count: number): Promise<string[]> {
  await cluster.until(() => cluster.groupNow(at, 0)?.partition?.committedNextOffset === count);
  const client = await cluster.login(at, BigInt(100 + at));
  const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody({ count: 100 }))));
  client.close();
  return messages.map(({ text }) => text);
}

async function assertAllHave(cluster: TestCluster, names: readonly string[]): Promise<void> {
  for (const at of NODES) {
    assert.deepEqual(await seenOn(cluster, at, names.length), names.map(textOf), `node ${at}`);
    assert.deepEqual(await batchesOn(cluster, at), await batchesOn(cluster, 0), `files of node ${at}`);
    for (const [path, bytes] of await filesOf(diskOf(cluster, at)))
      assert.ok(!toHex(bytes).includes(toHex(utf8(CANARY))), `${path} of node ${at}`);
  }
}

describe("A cluster of nodes that encrypt what they store", () => {
  it("has the same bytes on each, in clear on none, and serves them after all were killed.", async () => {
    const { cluster, client } = await encrypted();
    await send(cluster, client, "a", "b");
    await send(cluster, client, "c");
    await assertAllHave(cluster, ["a", "b", "c"]);
    for (const at of NODES) cluster.kill(at);
    for (const at of NODES) await cluster.startNode(at);
    const writer = await newWriter(cluster, NODES);
    await send(cluster, writer.client, "d");
    await assertAllHave(cluster, ["a", "b", "c", "d"]);
    await cluster.stop();
  });

  it("takes writes through a node that passes them on, and shows them there.", async () => {
    const { cluster, backups } = await encrypted();
    const through = await cluster.login(backups[0], 30n);
    await send(cluster, through, "a");
    const { messages } = polled(await cluster.drive(through.ok("PollMessages", pollBody())));
    assert.deepEqual(
      messages.map(({ text }) => text),
      [textOf("a")],
    );
    await assertAllHave(cluster, ["a"]);
    await cluster.stop();
  });

  it("goes on without its primary, and gives it and a node without its directory all of it.", async () => {
    const { cluster, client, primary, backups } = await encrypted();
    await send(cluster, client, "before");
    cluster.kill(primary);
    const next = await newWriter(cluster, backups);
    await send(cluster, next.client, "between");
    await cluster.startNode(primary);
    await assertAllHave(cluster, ["before", "between"]);
    const [lost = 0] = backups.filter((at) => at !== next.at);
    cluster.wipe(lost);
    await cluster.startNode(lost);
    await send(cluster, next.client, "after");
    await assertAllHave(cluster, ["before", "between", "after"]);
    await cluster.stop();
  });

  it("serves without a gap on a node that led, followed and leads again.", async () => {
    const { cluster, client, primary, backups } = await encrypted();
    await send(cluster, client, "led");
    cluster.passes = ({ from, to }) => from !== primary && to !== primary;
    const next = await newWriter(cluster, backups);
    await send(cluster, next.client, "followed");
    cluster.passes = () => true;
    await cluster.until(() => cluster.groupNow(primary, 0)?.partition?.committedNextOffset === 2);
    for (const at of backups) cluster.kill(at);
    await cluster.startNode(backups[0]);
    const again = await newWriter(cluster, [primary, backups[0]]);
    await send(cluster, again.client, "last");
    await cluster.startNode(backups[1]);
    await assertAllHave(cluster, ["led", "followed", "last"]);
    await cluster.stop();
  });

  it("gives no nonce away twice, also not where an offset comes again behind what was dropped.", async () => {
    const { cluster, client, primary, backups } = await encrypted();
    await send(cluster, client, "before");
    cluster.passes = ({ from, to }) => from !== primary && to !== primary;
    const dropped = client.command("SendMessages", sendBody([textOf("lost")]));
    await cluster.until(() => cluster.groupNow(primary, 0)?.partition?.lastOp === 2);
    const seen = new Set(await batchesOn(cluster, primary));
    assert.equal(seen.size, 2, "what nobody else has is on its disk");
    const next = await newWriter(cluster, backups);
    await send(cluster, next.client, "kept");
    cluster.passes = () => true;
    assert.notEqual((await cluster.drive(dropped)).code, 0);
    await assertAllHave(cluster, ["before", "kept"]);
    for (const batch of await batchesOn(cluster, primary)) seen.add(batch);
    assert.equal(seen.size, 3);
    assert.equal(new Set([...seen].map(nonceOf)).size, 3);
    await cluster.stop();
  });

  it("carries no message in clear in what the primary gives its backups.", async () => {
    const { cluster, client } = await encrypted();
    const carried: number[] = [];
    const canary = toHex(utf8(CANARY));
    cluster.passes = ({ bytes }) => {
      if (toHex(bytes).includes(canary)) carried.push(bytes[60] ?? 0);
      return true;
    };
    await send(cluster, client, "a");
    await cluster.clock.run(1000);
    assert.deepEqual(carried, []);
    await cluster.stop();
  });
});
