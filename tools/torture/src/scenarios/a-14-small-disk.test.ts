import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MillraceClient } from "@millrace/client";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { freePort } from "@millrace/testkit";
import { builtServer } from "../server/built-server.ts";
import { ServerProcess } from "../server/server-process.ts";

const MIB = 1_048_576;
const DISK_LENGTH = 64 * MIB;
const DATA_LENGTH = 50 * MIB;
const BATCH_LENGTH = MIB / 2;
const TOPIC = { stream: "s", topic: "t" };

/** A file system of 64 MiB where this process may mount one; else none. */
function mountSmallDisk(folder: string): boolean {
  const options = ["-t", "tmpfs", "-o", `size=${DISK_LENGTH}`, "tmpfs", folder];
  return spawnSync("mount", options).status === 0;
}

const batch = () => [{ payload: new Uint8Array(BATCH_LENGTH).fill(7) }];

/** Sends until the length is reached or the disk is full; answers how many were acknowledged. */
async function fill(client: MillraceClient, length: number): Promise<number> {
  for (let count = 0; count * BATCH_LENGTH < length; count += 1) {
    const isFull = await client.sendMessages({ ...TOPIC, messages: batch() }).then(
      () => false,
      (error: unknown) => {
        assert.ok(isCodedError(error, ErrorCode.DiskFull), `${error}`);
        return true;
      },
    );
    if (isFull) return count;
  }
  return Math.ceil(length / BATCH_LENGTH);
}

async function countOf(client: MillraceClient): Promise<number> {
  let count = 0;
  for (;;) {
    const poll = { ...TOPIC, partitionId: 0, consumer: 1, startAt: { offset: BigInt(count) }, count: 20 };
    const { messages } = await client.pollMessages(poll);
    if (messages.length === 0) return count;
    count += messages.length;
  }
}

const connect = (server: ServerProcess) => MillraceClient.connect(`iggy://iggy:iggy@${server.address}`);

/** Empties the files of the newest segment, as a crash with a full disk may. */
function emptyNewest(folder: string): void {
  const path = join(folder, "data", "streams", "0", "topics", "0", "partitions");
  const [partition = ""] = readdirSync(path);
  const logs = readdirSync(join(path, partition)).filter((name) => name.endsWith(".log"));
  const newest = logs.toSorted().at(-1) ?? "";
  if (statSync(join(path, partition, newest)).size > 0) return;
  truncateSync(join(path, partition, newest), 0);
}

async function serveFromSmallDisk(server: ServerProcess, folder: string): Promise<void> {
  await server.start();
  let client = await connect(server);
  await client.createStream("s");
  await client.createTopic("s", { name: "t", partitionsCount: 1, segmentSize: MIB });
  const sent = await fill(client, DATA_LENGTH);
  assert.equal(sent, DATA_LENGTH / BATCH_LENGTH, "50 MiB fit on 64 MiB");
  await client.close();

  await server.stop();
  await server.start();
  client = await connect(server);
  assert.equal(await countOf(client), sent, "little free space keeps nobody from what is there");
  const more = await fill(client, DISK_LENGTH);
  assert.ok(more * BATCH_LENGTH < DISK_LENGTH - DATA_LENGTH, "then the disk is full");
  assert.equal(await countOf(client), sent + more, "a full disk is read");
  await client.close().catch(() => {});

  await server.kill();
  emptyNewest(folder);
  await server.start();
  client = await connect(server);
  assert.equal(await countOf(client), sent + more, "a full disk is started from");
  await removeOnFullDisk(client);
  await client.close();
}

/** What is removed by hand frees the disk it is full of, and is not answered before. */
async function removeOnFullDisk(client: MillraceClient): Promise<void> {
  const { stream, topic } = TOPIC;
  await fill(client, DISK_LENGTH);
  await client.deleteSegments(stream, topic, 0, 12);
  assert.equal(await fill(client, 4 * MIB), 8, "deleted segments make room");
  await fill(client, DISK_LENGTH);
  await client.purgeTopic(stream, topic);
  assert.equal(await countOf(client), 0, "a purge takes everything");
  assert.equal(await fill(client, DATA_LENGTH), DATA_LENGTH / BATCH_LENGTH, "and makes room for as much");
  assert.equal(await countOf(client), DATA_LENGTH / BATCH_LENGTH);
}

test("A-14: a server with 50 MiB of data on a disk of 64 MiB starts, reads and removes, full or not.", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-small-disk-"));
  mkdirSync(join(folder, "data"));
  if (!mountSmallDisk(join(folder, "data"))) {
    rmSync(folder, { recursive: true });
    return context.skip("only root may mount a small file system; storage has the simulated one");
  }
  const server = new ServerProcess({ entry: builtServer(), folder, port: await freePort() });
  try {
    await serveFromSmallDisk(server, folder);
  } finally {
    await server.kill();
    spawnSync("umount", [join(folder, "data")]);
    rmSync(folder, { recursive: true, force: true });
  }
});
