import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { typedField } from "@millrace/framing";
import {
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeRepairPartition,
  encodeVerifyPartition,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { batchBody } from "../testing/batch-body.ts";
import type { RawClient } from "../testing/raw-client.ts";
import { ThreeServers } from "../testing/three-servers.ts";

const NODES = [0, 1, 2];
const MESSAGES = 30;
/** Four of them fill a segment. */
const MESSAGE = Buffer.alloc(262_144, "m");
const LIMIT_MS = 60_000;
const PLACE = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
const FROM_START = { segment: 0, opsPosition: 0, logPosition: 0 };

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const endMs = Date.now() + LIMIT_MS; ; await sleep(100)) {
    const found = await look().catch((error: unknown) => {
      if (Date.now() > endMs) throw error;
      return undefined;
    });
    if (found !== undefined) return found;
    assert.ok(Date.now() < endMs, "what the test waits for happens in time");
  }
}

async function createTopic(client: RawClient): Promise<void> {
  const stream = await client.command("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  assert.equal(stream.code, 0);
  const options = [{ key: "segment_size", value: typedField("uint64", 1_048_576n) }];
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options };
  assert.equal((await client.command("CreateTopic", encodeCreateTopic(topic))).code, 0);
}

async function send(client: RawClient, bytes: Uint8Array): Promise<void> {
  await until(async () => {
    const { code } = await client.command("SendMessages", batchBody(0, [bytes]));
    return code === 0 ? true : undefined;
  });
}

/** How many places a node says are damaged, and whether the partition refuses writes because of them. */
async function verify(client: RawClient) {
  const body = encodeVerifyPartition({ ...PLACE, from: FROM_START, lengthMax: 16_777_216 });
  const { code, payload } = await client.command("VerifyPartition", body);
  assert.equal(code, 0);
  const { damages, fault, next } = decodeVerifyPartitionReply(payload);
  assert.equal(next, undefined);
  return damages.length + (fault === "" ? 0 : 1);
}

function folderOf(data: string): string {
  const partitions = join(data, "streams/0/topics/0/partitions");
  return join(partitions, readdirSync(partitions)[0] ?? "");
}

function filesOf(data: string, ending: string): ReadonlyMap<string, Buffer> {
  const folder = folderOf(data);
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name))]));
}

const logsOf = (data: string) => filesOf(data, ".log");

/** Bytes of messages that a node has, and of what tells of them. */
function lengthsOf(data: string): string {
  const lengthOf = (ending: string) =>
    [...filesOf(data, ending).values()].reduce((sum, { length }) => sum + length, 0);
  return `${lengthOf(".log")} ${lengthOf(".ops")}`;
}

/** Changes a bit in each of some segments' messages. */
function damage(data: string, segments: readonly number[]): void {
  const folder = folderOf(data);
  const logs = [...logsOf(data)];
  for (const at of segments) {
    const [name, bytes] = logs.at(at) ?? ["", Buffer.alloc(0)];
    bytes[1000] = (bytes[1000] ?? 0) ^ 4;
    writeFileSync(join(folder, name), bytes);
  }
}

test("a node whose files changed while it was stopped gets the good bytes back, while clients write", async () => {
  const servers = await ThreeServers.start();
  try {
    const writer = await until(() => servers.login(0));
    await createTopic(writer);
    for (let at = 0; at < MESSAGES; at += 1) await send(writer, MESSAGE);
    const held = () => NODES.map((at) => lengthsOf(servers.dataOf(at)));
    await until(async () => (new Set(held()).size === 1 ? true : undefined));
    await servers.kill(2);
    damage(servers.dataOf(2), [0, 3, -1]);
    await servers.startAgain(2);
    const operator = await until(() => servers.login(2));
    assert.ok((await until(async () => verify(operator))) >= 2, "the damage is told");
    let [isWriting, written] = [true, 0];
    const writing = (async () => {
      for (; isWriting; written += 1) await send(writer, Buffer.from(`while it is repaired ${written}`));
    })();
    const reply = await until(async () => {
      const { code, payload } = await operator.command(
        "RepairPartition",
        encodeRepairPartition({ ...PLACE, offsets: "proven" }),
      );
      return code === 0 ? decodeRepairPartitionReply(payload) : undefined;
    });
    assert.equal(reply.outcome, "fetched");
    isWriting = false;
    await writing;
    assert.ok(written > 0, "clients wrote meanwhile");
    assert.equal(await verify(operator), 0);
    await send(operator, Buffer.from("through the node itself"));
    for (const client of [writer, operator]) client.close();
    await sleep(2000);
    assert.deepEqual(await servers.stop(), [0, 0, 0]);
    const [one, ...others] = NODES.map((at) => logsOf(servers.dataOf(at)));
    for (const other of others) assert.deepEqual(other, one);
  } finally {
    await servers.remove();
  }
});
