import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { DiskCall, SimDisk } from "@millrace/platform/sim";
import {
  decodeRepairPartitionReply,
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodePurgeTopic,
  encodeRepairPartition,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const FOLDER = "streams/0/topics/0/partitions";
const target = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function filled(): Promise<{ server: TestServer; client: TestClient }> {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  for (const text of ["a", "b", "c"]) await client.ok("SendMessages", sendBody([text]));
  return { server, client };
}

const textsOf = async (client: TestClient) =>
  polled(await client.ok("PollMessages", pollBody())).messages.map(({ text }) => text);

async function sent(client: TestClient, text: string): Promise<number | undefined> {
  return decodeSendMessagesReply(await client.ok("SendMessages", sendBody([text])))[0]?.baseOffset;
}

/** A disk that has room for the catalog and none for partitions. */
function fullForPartitions({ kind, path }: DiskCall) {
  return kind === "write" && path.startsWith(FOLDER)
    ? ({ kind: "error", errno: "ENOSPC" } as const)
    : undefined;
}

/** What was sent after the purge's answer is there, and nothing from before, now and after a restart. */
async function assertPurged(server: TestServer, client: TestClient, texts: readonly string[]): Promise<void> {
  assert.deepEqual(await textsOf(client), texts);
  const disk = server.kill();
  const next = await TestServer.start({ disk });
  const reader = await next.login();
  assert.deepEqual(await textsOf(reader), texts, "after a restart");
  await next.stop();
}

test("A purge that a full disk puts off comes before the next message, and never takes it.", async () => {
  const { server, client } = await filled();
  const { disk } = server.platform;
  disk.setFaults(fullForPartitions);
  assert.equal((await client.command("SendMessages", sendBody(["d"]))).code, ErrorCode.DiskFull);
  await client.ok("PurgeTopic", encodePurgeTopic(target));
  disk.setFaults(undefined);
  assert.equal((await client.command("SendMessages", sendBody(["e"]))).code, ErrorCode.DiskFull);
  await server.platform.clock.run(1500);
  // The next one finds that there is space, those behind it are written.
  assert.equal((await client.command("SendMessages", sendBody(["f"]))).code, ErrorCode.DiskFull);
  await server.platform.clock.run(10);
  assert.equal(await sent(client, "first"), 0);
  await assertPurged(server, client, ["first"]);
});

test("On a full disk that has a few bytes left a purge takes effect at once.", async () => {
  const { server, client } = await filled();
  const { disk } = server.platform;
  disk.setFaults(fullForPartitions);
  assert.equal((await client.command("SendMessages", sendBody(["d"]))).code, ErrorCode.DiskFull);
  disk.setFaults(undefined);
  await client.ok("PurgeTopic", encodePurgeTopic(target));
  assert.deepEqual(await textsOf(client), []);
  assert.equal(await sent(client, "first"), 0);
  await assertPurged(server, client, ["first"]);
});

test("A purge of a damaged partition comes with its repair, before anything that is sent then.", async () => {
  const { server } = await filled();
  const disk = server.kill();
  disk.flipBit(await logOf(disk), 8 * 300);
  const damaged = await TestServer.start({ disk });
  const client = await damaged.login(2n);
  assert.equal((await client.command("SendMessages", sendBody(["d"]))).code, ErrorCode.PartitionDamaged);
  await client.ok("PurgeTopic", encodePurgeTopic(target));
  const body = encodeRepairPartition({ ...target, partitionId: 0, offsets: "known" });
  const { outcome } = decodeRepairPartitionReply(await client.ok("RepairPartition", body));
  assert.equal(outcome, "repaired");
  assert.equal(await sent(client, "first"), 0);
  await assertPurged(damaged, client, ["first"]);
});

async function logOf(disk: SimDisk): Promise<string> {
  const folder = `${FOLDER}/${(await disk.readDirectory(FOLDER))[0]?.name}`;
  return `${folder}/${(await disk.readDirectory(folder)).find(({ name }) => name.endsWith(".log"))?.name}`;
}
