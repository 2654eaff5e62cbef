import assert from "node:assert/strict";
import {
  type Consumer,
  decodeGetConsumerGroupReply,
  decodeGetConsumerOffsetReply,
  decodeSyncConsumerGroupReply,
  encodeCreateConsumerGroup,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteConsumerOffset,
  encodeGetConsumerGroup,
  encodeGetConsumerOffset,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeStoreConsumerOffset,
  encodeSyncConsumerGroup,
  type GroupAssignment,
  type GroupDetails,
  NO_OPTIONS,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "./test-batches.ts";
import type { TestClient } from "./test-client.ts";
import { type Polled, pollBody, polled } from "./test-polls.ts";

/** The group of the tests, and the consumer that stands for it. */
export const GROUP = { stream: toIdentifier(0), topic: toIdentifier(0), group: toIdentifier("g") };
export const GROUP_CONSUMER: Consumer = { kind: "group", id: toIdentifier("g") };

/** Makes stream 0, topic 0 with this many partitions, and group `g`. */
export async function createGroup(client: TestClient, partitionsCount: number): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("CreateConsumerGroup", encodeCreateConsumerGroup({ ...GROUP, name: "g" }));
}

/** Sends `count` messages to a partition: `p0-0`, `p0-1`, ... */
export async function sendTo(client: TestClient, partitionId: number, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, index) => `p${partitionId}-${index}`);
  await client.ok("SendMessages", sendBody(texts, { partitioning: { kind: "partition", partitionId } }));
}

export async function join(client: TestClient): Promise<void> {
  assert.equal((await client.ok("JoinConsumerGroup", encodeJoinConsumerGroup(GROUP))).length, 0);
}

export async function leave(client: TestClient): Promise<void> {
  assert.equal((await client.ok("LeaveConsumerGroup", encodeLeaveConsumerGroup(GROUP))).length, 0);
}

/** What a client may poll; nothing for who is no member. */
export async function sync(client: TestClient): Promise<GroupAssignment | undefined> {
  return decodeSyncConsumerGroupReply(await client.ok("SyncConsumerGroup", encodeSyncConsumerGroup(GROUP)));
}

/** Partitions a member may poll, ascending. */
export async function pollable(client: TestClient): Promise<number[]> {
  return [...((await sync(client))?.partitions ?? [])].sort((one, other) => one - other);
}

export async function details(client: TestClient): Promise<GroupDetails | undefined> {
  return decodeGetConsumerGroupReply(await client.ok("GetConsumerGroup", encodeGetConsumerGroup(GROUP)));
}

/** Polls behind the group's stored offset. */
export async function pollGroup(
  client: TestClient,
  partitionId: number | undefined,
  more: Partial<PollMessages> = {},
): Promise<Polled> {
  const poll = { consumer: GROUP_CONSUMER, partitionId, strategy: { kind: "next" }, ...more } as const;
  return polled(await client.ok("PollMessages", pollBody(poll)));
}

/** Code of storing the group's offset. */
export async function commit(
  client: TestClient,
  partitionId: number | undefined,
  offset: number,
): Promise<number> {
  const place = { ...GROUP, consumer: GROUP_CONSUMER, partitionId };
  const body = encodeStoreConsumerOffset({ ...place, offset: BigInt(offset), ack: "quorum" });
  return (await client.command("StoreConsumerOffset", body)).code;
}

/** Code of deleting the group's offset. */
export async function forget(client: TestClient, partitionId: number): Promise<number> {
  const place = { ...GROUP, consumer: GROUP_CONSUMER, partitionId };
  const body = encodeDeleteConsumerOffset({ ...place, ack: "quorum" });
  return (await client.command("DeleteConsumerOffset", body)).code;
}

/** The group's stored offset, as anybody may read it. */
export async function stored(client: TestClient, partitionId: number): Promise<number | undefined> {
  const place = { ...GROUP, consumer: GROUP_CONSUMER, partitionId };
  const payload = await client.ok("GetConsumerOffset", encodeGetConsumerOffset(place));
  return decodeGetConsumerOffsetReply(payload)?.storedOffset;
}
