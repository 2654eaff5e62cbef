import assert from "node:assert/strict";
import type { SimDisk } from "@millrace/platform/sim";
import {
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  encodeRepairPartition,
  encodeVerifyPartition,
  toIdentifier,
} from "@millrace/protocol";
import { type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClusterOptions } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { fillSegments, storeBody } from "../testing/test-topics.ts";

export const FOLDER = "streams/0/topics/0/partitions";
const PLACE = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
export const REPAIR = encodeRepairPartition({ ...PLACE, offsets: "proven" });
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

export const flip =
  (ending: string, segment: number, byte: number): Harm =>
  async (disk) => {
    const path = (await filesOf(disk, ending)).at(segment) ?? "";
    disk.flipBit(path, 8 * byte);
  };

/** A sector in the middle of the active segment's messages reads as zeros, as if power had taken it. */
export const loseSector: Harm = async (disk) => {
  const file = await disk.openFile((await filesOf(disk, ".log")).at(-1) ?? "", "read-write");
  await new Promise<void>((resolve, reject) =>
    file.write([new Uint8Array(512)], 512, (error) => (error === undefined ? resolve() : reject(error))),
  );
  await file.close();
};

export const HARMS: Readonly<Record<string, Harm>> = {
  "a bit of a sealed segment's messages": flip(".log", 0, 5000),
  "a bit of a sealed segment's records": flip(".ops", 0, 200),
  "a bit of the active segment's messages": flip(".log", -1, 300),
  "a bit of the active segment's records": flip(".ops", -1, 200),
  "a file of messages that is gone": async (disk) => disk.removeFile((await filesOf(disk, ".log"))[0] ?? ""),
  "a file of records that is gone": async (disk) => disk.removeFile((await filesOf(disk, ".ops"))[0] ?? ""),
};

/** Three nodes that hold some segments and a stored offset. */
export async function written(options: TestClusterOptions = {}): Promise<SmallCluster> {
  const parts = await smallCluster(1, options);
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
export function openedOn({ cluster }: SmallCluster, at: number) {
  return cluster.until(() => {
    const group = cluster.groupNow(at, 0);
    return group?.partition === undefined && group?.fault === undefined ? undefined : group;
  });
}

/** Everything a node shows of the partition. */
export async function shownBy({ cluster }: SmallCluster, at: number, client = 400n + BigInt(at)) {
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

export async function equalEverywhere(parts: SmallCluster): Promise<void> {
  await levelled(parts);
  const first = await shownBy(parts, 0);
  for (const at of [1, 2]) assert.deepEqual(await shownBy(parts, at), first, `node ${at}`);
}

export async function repair({ cluster }: SmallCluster, at: number, client = 500n + BigInt(at)) {
  const operator = await cluster.login(at, client);
  const { code, payload } = await cluster.drive(operator.command("RepairPartition", REPAIR));
  operator.close();
  return code === 0 ? decodeRepairPartitionReply(payload) : { code, text: new TextDecoder().decode(payload) };
}

export async function damagesOn({ cluster }: SmallCluster, at: number): Promise<number> {
  const operator = await cluster.login(at, 600n + BigInt(at));
  const { damages, fault } = decodeVerifyPartitionReply(
    await cluster.drive(operator.ok("VerifyPartition", VERIFY)),
  );
  operator.close();
  return damages.length + (fault === "" ? 0 : 1);
}
