import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer } from "../../testing/test-server.ts";

const target = {
  consumer: { kind: "consumer", id: toIdentifier(1) },
  stream: toIdentifier(0),
  topic: toIdentifier(0),
  partitionId: 0,
} as const;
const store = (offset: bigint) => encodeStoreConsumerOffset({ ...target, offset, ack: "quorum" });

async function serverWithoutOps() {
  const before = await TestServer.start();
  const client = await before.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("SendMessages", sendBody(["a", "b"]));
  await client.ok("StoreConsumerOffset", store(0n));
  const disk = before.kill();
  const partitions = "streams/0/topics/0/partitions";
  const [partition] = await disk.readDirectory(partitions);
  await disk.removeFile(`${partitions}/${partition?.name}/00000000000000000000.ops`);
  const server = await TestServer.start({ disk });
  return { server, client: await server.login(9n) };
}

test("Where damage hides the stored offsets, nothing is answered as if none were stored.", async () => {
  const { server, client } = await serverWithoutOps();
  const code = async (...command: Parameters<typeof client.command>) =>
    (await client.command(...command)).code;
  const next = { strategy: { kind: "next" } } as const;
  assert.equal(await code("GetConsumerOffset", encodeGetConsumerOffset(target)), ErrorCode.PartitionDamaged);
  assert.equal(await code("PollMessages", pollBody(next)), ErrorCode.PartitionDamaged);
  for (const offset of [0n, 99n])
    assert.equal(await code("StoreConsumerOffset", store(offset)), ErrorCode.PartitionDamaged);
  assert.equal(
    await code("DeleteConsumerOffset", encodeDeleteConsumerOffset({ ...target, ack: "quorum" })),
    ErrorCode.PartitionDamaged,
  );
  assert.equal(await code("SendMessages", sendBody(["c"])), ErrorCode.PartitionDamaged);
  await server.stop();
});

test("Messages that verify are served beside it, and their end is no 'no more yet'.", async () => {
  const { server, client } = await serverWithoutOps();
  const { messages } = polled(await client.ok("PollMessages", pollBody()));
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["a", "b"],
  );
  const behind = { strategy: { kind: "offset", offset: 2n } } as const;
  assert.equal((await client.command("PollMessages", pollBody(behind))).code, ErrorCode.PartitionDamaged);
  await server.stop();
});
