import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import type { SimDisk } from "@millrace/platform/sim";
import {
  decodeVerifyPartitionReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeVerifyPartition,
  NO_OPTIONS,
  type OptionEntries,
  toIdentifier,
  type VerifyDamage,
  type VerifyPlace,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer } from "../../testing/test-server.ts";

const MIB = 1024 * 1024;
const OPTIONS: OptionEntries = [{ key: "segment_size", value: typedField("uint64", BigInt(MIB)) }];
const FROM_START: VerifyPlace = { segment: 0, opsPosition: 0, logPosition: 0 };

/** A topic whose partition 0 has two sealed segments and an active one, ten messages of 256 KiB; stopped. */
async function written(): Promise<SimDisk> {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  for (let at = 0; at < 10; at++) await client.ok("SendMessages", sendBody([String(at).repeat(MIB / 4)]));
  return server.stop();
}

const body = (from: VerifyPlace, lengthMax = 0, partitionId = 0) =>
  encodeVerifyPartition({ stream: toIdentifier("s"), topic: toIdentifier(0), partitionId, from, lengthMax });

async function verifyAll(client: TestClient, lengthMax: number) {
  const damages: VerifyDamage[] = [];
  let messages = 0;
  let steps = 0;
  let fault = "";
  for (let from: VerifyPlace | undefined = FROM_START; from !== undefined; ) {
    const reply = decodeVerifyPartitionReply(await client.ok("VerifyPartition", body(from, lengthMax)));
    damages.push(...reply.damages);
    messages += reply.messages;
    steps += 1;
    fault = reply.fault;
    from = reply.next;
  }
  return { damages, messages, steps, fault };
}

async function segmentsOf(disk: SimDisk): Promise<string[]> {
  const partitions = "streams/0/topics/0/partitions";
  const path = `${partitions}/${(await disk.readDirectory(partitions))[0]?.name}`;
  const files = (await disk.readDirectory(path))
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".log"));
  return files.map((name) => `${path}/${name}`);
}

test("A verification in bounded steps looks at every message and finds nothing in good files.", async () => {
  const server = await TestServer.start({ disk: (await written()).kill() });
  const client = await server.login();
  const good = await verifyAll(client, 1);
  assert.deepEqual([good.damages, good.messages, good.fault], [[], 10, ""]);
  assert.ok(good.steps >= 10);
  assert.equal((await verifyAll(client, 0)).steps, 1);
  assert.equal(
    (await client.command("VerifyPartition", body(FROM_START, 0, 7))).code,
    ErrorCode.PartitionNotFound,
  );
  await server.stop();
});

test("A changed bit in a sealed or the active segment is named by file and place, and polls answer its code.", async () => {
  for (const index of [0, 1, 2]) {
    const disk = (await written()).kill();
    const segments = await segmentsOf(disk);
    assert.equal(segments.length, 3);
    const path = segments[index] ?? "";
    disk.flipBit(path, 8 * 1000);
    const server = await TestServer.start({ disk });
    const client = await server.login();
    const { damages, messages } = await verifyAll(client, 0);
    const first = index * 4;
    assert.deepEqual(damages, [{ kind: "batch", path, position: 256, offset: first }], path);
    assert.equal(messages, 10);
    const from = (offset: number) =>
      pollBody({ strategy: { kind: "offset", offset: BigInt(offset) }, count: 1 });
    assert.equal((await client.command("PollMessages", from(first))).code, ErrorCode.PartitionDamaged);
    assert.equal(polled(await client.ok("PollMessages", from(first + 1))).messages[0]?.offset, first + 1);
    await server.stop();
  }
});
