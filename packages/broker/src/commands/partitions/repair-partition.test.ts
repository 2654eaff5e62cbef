import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { SimClock, type SimDisk } from "@millrace/platform/sim";
import {
  decodeRepairPartitionReply,
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeRepairPartition,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  type RepairPartition,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../../testing/test-server.ts";

const FOLDER = "streams/0/topics/0/partitions";

/** Ten messages, a stored offset of consumer 7 behind the fifth; killed. */
async function written(options: TestServerOptions = {}): Promise<SimDisk> {
  const server = await TestServer.start(options);
  await server.drive(writeInto(await server.login()));
  return server.kill();
}

async function writeInto(client: TestClient): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  for (let at = 0; at < 10; at++) {
    await client.ok("SendMessages", sendBody([`m${at}`]));
    if (at === 4) await client.ok("StoreConsumerOffset", offsetBody());
  }
}

function offsetBody(): Uint8Array {
  const target = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
  const consumer = { kind: "consumer", id: toIdentifier(7) } as const;
  return encodeStoreConsumerOffset({ consumer, ...target, offset: 3n, ack: "quorum" });
}

async function fileOf(disk: SimDisk, ending: string): Promise<string> {
  const folder = `${FOLDER}/${(await disk.readDirectory(FOLDER))[0]?.name}`;
  const entry = (await disk.readDirectory(folder)).find(({ name }) => name.endsWith(ending));
  return `${folder}/${entry?.name}`;
}

async function repair(client: TestClient, offsets: RepairPartition["offsets"] = "proven") {
  const target = { stream: toIdentifier("s"), topic: toIdentifier("t"), partitionId: 0 };
  const payload = await client.ok("RepairPartition", encodeRepairPartition({ ...target, offsets }));
  return decodeRepairPartitionReply(payload);
}

const from = (offset: number) =>
  pollBody({ strategy: { kind: "offset", offset: BigInt(offset) }, count: 100 });

const textsFrom = async (client: TestClient, offset: number) =>
  polled(await client.ok("PollMessages", from(offset))).messages.map(({ text }) => text);

test("A repair lets a damaged partition take writes behind the damage, at once and after a restart.", async () => {
  const disk = await written();
  disk.flipBit(await fileOf(disk, ".log"), 8 * 700);
  const first = await TestServer.start({ disk });
  const client = await first.login();
  assert.equal((await client.command("SendMessages", sendBody(["x"]))).code, ErrorCode.PartitionDamaged);
  const { outcome, offsets, nextOffset, damage } = await repair(client);
  assert.deepEqual([outcome, offsets, nextOffset], ["repaired", "proven", 10]);
  assert.match(damage, /\.log/);
  const [confirmed] = decodeSendMessagesReply(await client.ok("SendMessages", sendBody(["after"])));
  assert.equal(confirmed?.baseOffset, 10);
  const second = await TestServer.start({ disk: (await first.stop()).kill() });
  const again = await second.login();
  await again.ok("SendMessages", sendBody(["later"]));
  assert.deepEqual(await textsFrom(again, 0), ["m0", "m1"]);
  assert.equal((await again.command("PollMessages", from(2))).code, ErrorCode.PartitionDamaged);
  assert.deepEqual((await textsFrom(again, 3)).slice(-3), ["m9", "after", "later"]);
  assert.equal((await repair(again)).outcome, "healthy");
  await second.stop();
});

test("A repair asks what becomes of stored offsets that the damage hides.", async () => {
  const disk = await written();
  // The stored offset's record of 144 bytes has five records of batches behind it, 128 bytes each.
  const path = await fileOf(disk, ".ops");
  const { length } = (await disk.stat(path)) ?? { length: 0 };
  disk.flipBit(path, 8 * (length - 5 * 128 - 144 + 130));
  const server = await TestServer.start({ disk });
  const client = await server.login();
  const asked = await repair(client);
  assert.equal(asked.outcome, "offsets-in-doubt");
  assert.equal((await client.command("SendMessages", sendBody(["x"]))).code, ErrorCode.PartitionDamaged);
  const chosen = await repair(client, "known");
  assert.deepEqual([chosen.outcome, chosen.offsets], ["repaired", "known"]);
  await client.ok("SendMessages", sendBody(["after"]));
  await client.ok("StoreConsumerOffset", offsetBody());
  assert.equal((await textsFrom(client, 0)).length, 11);
  await server.stop();
});

test("A repair of a partition that is well changes nothing, and one of a partition that is not there is refused.", async () => {
  const server = await TestServer.start({ disk: await written() });
  const client = await server.login();
  assert.deepEqual(await repair(client, "none"), {
    outcome: "healthy",
    offsets: "proven",
    nextOffset: 10,
    damage: "",
  });
  const target = { stream: toIdentifier("s"), topic: toIdentifier("t"), partitionId: 3 };
  const missing = encodeRepairPartition({ ...target, offsets: "proven" });
  assert.equal((await client.command("RepairPartition", missing)).code, ErrorCode.PartitionNotFound);
  await server.stop();
});

test("A stop waits for a repair that is under way and closes what it opened.", async () => {
  const clock = new SimClock();
  const path = await fileOf(await written(), ".log");
  const disk = await written({ clock, diskLatencyMaxMs: 5 });
  disk.flipBit(path, 8 * 700);
  const server = await TestServer.start({ disk, clock });
  const client = await server.drive(server.login());
  const target = { stream: toIdentifier("s"), topic: toIdentifier("t"), partitionId: 0 };
  const repairing = client.command(
    "RepairPartition",
    encodeRepairPartition({ ...target, offsets: "proven" }),
  );
  repairing.catch(() => undefined);
  await clock.run(2);
  await server.drive(server.broker.stop({ drainMs: 0 }));
  assert.equal(server.pool.leasesOut, 0);
});
