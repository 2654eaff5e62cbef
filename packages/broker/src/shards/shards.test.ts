import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeGetTopicReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeGetTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const PARTITIONS = 12;
const TARGET = { stream: toIdentifier(0), topic: toIdentifier(0) };
/** Longer than what a tail copies, so that the batch stays in shard 0's memory. */
const LONG = "x".repeat(40_000);

async function started(shardsCount: number) {
  const server = await TestServer.start({ shardsCount });
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: PARTITIONS, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  return { server, client };
}

test("Sends of one connection to partitions of every shard are answered in order, and each partition keeps its order.", async () => {
  const { server, client } = await started(4);
  const sends: Promise<unknown>[] = [];
  const answered: number[] = [];
  for (let at = 0; at < PARTITIONS * 5; at++) {
    const partitioning = { kind: "partition", partitionId: at % PARTITIONS } as const;
    const text = at % 7 === 0 ? `${at}${LONG}` : String(at);
    sends.push(client.ok("SendMessages", sendBody([text], { partitioning })).then(() => answered.push(at)));
  }
  await Promise.all(sends);
  assert.deepEqual(answered, [...sends.keys()]);
  for (let partitionId = 0; partitionId < PARTITIONS; partitionId++) {
    const { messages } = polled(await client.ok("PollMessages", pollBody({ partitionId })));
    assert.deepEqual(
      messages.map(({ text }) => Number.parseInt(text, 10)),
      [0, 1, 2, 3, 4].map((round) => round * PARTITIONS + partitionId),
    );
  }
  await server.stop();
});

test("What a topic holds is exact right after the answer to a send, whichever shard owns the partition.", async () => {
  const { server, client } = await started(3);
  for (let partitionId = 0; partitionId < PARTITIONS; partitionId++) {
    await client.ok(
      "SendMessages",
      sendBody(["a", "b"], { partitioning: { kind: "partition", partitionId } }),
    );
    const topic = decodeGetTopicReply(await client.ok("GetTopic", encodeGetTopic(TARGET)));
    const partition = topic?.partitions[partitionId];
    assert.deepEqual([partition?.messagesCount, partition?.currentOffset], [2, 1]);
    assert.equal(topic?.messagesCount, 2 * (partitionId + 1));
  }
  await server.stop();
});

test("Long batches that other shards keep give way when the shard that receives runs short of memory.", async () => {
  const { server, client } = await started(2);
  const long = "y".repeat(400_000);
  // More than shard 0's message memory; the owners' tails alone would keep 4 MiB each of it.
  for (let at = 0; at < 80; at++) {
    const partitioning = { kind: "partition", partitionId: at % PARTITIONS } as const;
    await client.ok("SendMessages", sendBody([long], { partitioning }));
  }
  await server.stop();
});
