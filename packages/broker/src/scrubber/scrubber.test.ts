import assert from "node:assert/strict";
import { test } from "node:test";
import { typedField } from "@millrace/framing";
import type { Counter } from "@millrace/platform";
import type { SimDisk } from "@millrace/platform/sim";
import {
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteStream,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import type { BrokerConfig } from "../broker-config.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestServer } from "../testing/test-server.ts";

const MIB = 1024 * 1024;

function scrubbing(scrubber: Partial<BrokerConfig["scrubber"]> = {}): { config: Partial<BrokerConfig> } {
  return { config: { scrubber: { isEnabled: true, intervalMs: 10_000, bytesPerSecond: MIB, ...scrubber } } };
}

/** Two partitions, the first with two sealed segments and an active one of a MiB each; killed. */
async function written(): Promise<SimDisk> {
  const server = await TestServer.start(scrubbing({ isEnabled: false }));
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const options = [{ key: "segment_size", value: typedField("uint64", BigInt(MIB)) }];
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 2, options };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  for (let at = 0; at < 12; at++) await client.ok("SendMessages", sendBody([String(at).repeat(MIB / 4)]));
  return server.kill();
}

/** What is added to a counter from now on. */
function counting(counter: Counter): () => number {
  let sum = 0;
  counter.add = (amount) => {
    sum += amount;
  };
  return () => sum;
}

async function firstSealed(disk: SimDisk): Promise<string> {
  const partitions = "streams/0/topics/0/partitions";
  const folders = (await disk.readDirectory(partitions)).map(({ name }) => name);
  return `${partitions}/${folders.find((name) => name.startsWith("0-"))}/${"0".repeat(20)}.log`;
}

test("The scrubber finds a changed bit in a sealed segment, tells it once and goes on.", async () => {
  const disk = await written();
  disk.flipBit(await firstSealed(disk), 8 * 5000);
  const server = await TestServer.start({ disk, ...scrubbing() });
  const { metrics } = server.broker.shard;
  const [found, bytes] = [counting(metrics.damagesFound), counting(metrics.scrubbedBytes)];
  await server.platform.clock.run(9000);
  assert.equal(found(), 0, "a pass begins an interval after the start");
  await server.platform.clock.run(10_000);
  assert.equal(found(), 1);
  await server.platform.clock.run(60_000);
  assert.equal(found(), 1, "the same place is told once");
  assert.ok(bytes() > 12 * MIB, "it goes on behind the damage, pass after pass");
  await server.stop();
});

test("The scrubber reads no faster than it may.", async () => {
  const server = await TestServer.start({
    disk: await written(),
    ...scrubbing({ intervalMs: 1000, bytesPerSecond: MIB / 4 }),
  });
  const bytes = counting(server.broker.shard.metrics.scrubbedBytes);
  await server.platform.clock.run(1000);
  for (let seconds = 4; seconds <= 40; seconds += 4) {
    await server.platform.clock.run(4000);
    assert.ok(bytes() <= (seconds / 4 + 2) * MIB, `${bytes()} bytes in ${seconds} s`);
  }
  assert.ok(bytes() >= 6 * MIB);
  await server.stop();
});

test("The scrubber passes partitions that go away, and stops with the server.", async () => {
  const server = await TestServer.start({ disk: await written(), ...scrubbing({ intervalMs: 1000 }) });
  const client = await server.login();
  await server.platform.clock.run(1500);
  await client.ok("DeleteStream", encodeDeleteStream({ stream: toIdentifier(0) }));
  await server.platform.clock.run(20_000);
  await server.stop();
});
