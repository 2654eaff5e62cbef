import { typedField } from "@millrace/framing";
import {
  type Consumer,
  decodeGetTopicReply,
  decodeGetTopicRetentionReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteConsumerOffset,
  encodeDeleteSegments,
  encodeGetTopic,
  encodeGetTopicRetention,
  encodeStoreConsumerOffset,
  encodeUpdateTopic,
  NO_OPTIONS,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "./test-batches.ts";
import type { TestClient } from "./test-client.ts";
import { pollBody, polled } from "./test-polls.ts";

const MIB = 1_048_576;
const target = { stream: toIdentifier(0), topic: toIdentifier(0) };
const place = { ...target, partitionId: 0 };

/** Two of these fill a segment of the smallest size. */
export const HALF_SEGMENT = "x".repeat(600_000);

/** Options as numbers, for topics that forget. */
function retentionOptions(options: Readonly<Record<string, number | bigint>>): OptionEntries {
  return Object.entries(options).map(([key, value]) => ({
    key,
    value: typedField("uint64", BigInt(value)),
  }));
}

/** Makes stream 0 with topic 0, whose segments are as small as may be. */
export async function createSmallTopic(
  client: TestClient,
  options: Readonly<Record<string, number | bigint>> = {},
  partitionsCount = 1,
): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const entries = retentionOptions({ segment_size: MIB, ...options });
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options: entries };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
}

/** Changes options of topic 0. */
export async function updateTopic(client: TestClient, options: Readonly<Record<string, number | bigint>>) {
  await client.ok(
    "UpdateTopic",
    encodeUpdateTopic({ ...target, name: "t", options: retentionOptions(options) }),
  );
}

/** Fills `count` segments of partition 0, two messages each, and begins the next one with a short message. */
export async function fillSegments(client: TestClient, count: number): Promise<void> {
  for (let index = 0; index < 2 * count; index++) await client.ok("SendMessages", sendBody([HALF_SEGMENT]));
  await client.ok("SendMessages", sendBody(["tail"]));
}

/** Body of a store for a plain consumer by number. */
export function storeBody(id: number, offset: number): Uint8Array {
  return encodeStoreConsumerOffset({ ...place, consumer: plain(id), offset: BigInt(offset), ack: "quorum" });
}

/** Body of a delete for a plain consumer by number. */
export function forgetBody(id: number): Uint8Array {
  return encodeDeleteConsumerOffset({ ...place, consumer: plain(id), ack: "quorum" });
}

/** Body of a deletion of segments of partition 0. */
export function deleteSegmentsBody(segmentsCount: number): Uint8Array {
  return encodeDeleteSegments({ ...place, segmentsCount });
}

function plain(id: number): Consumer {
  return { kind: "consumer", id: toIdentifier(id) };
}

/** What the server says that retention does to topic 0. */
export async function retentionOf(client: TestClient) {
  const asked = encodeGetTopicRetention({ ...target, firstPartitionId: 0, partitionsCount: 10 });
  return decodeGetTopicRetentionReply(await client.ok("GetTopicRetention", asked));
}

/** The only partition of that. */
export async function partitionOf(client: TestClient) {
  const [partition] = (await retentionOf(client)).partitions;
  if (partition === undefined) throw new Error("topic 0 has a partition");
  return partition;
}

/** Offset of the oldest message a poll finds in partition 0. */
export async function earliestOf(client: TestClient): Promise<number | undefined> {
  return polled(await client.ok("PollMessages", pollBody({ count: 1 }))).messages[0]?.offset;
}

/** Messages, bytes and segments of partition 0, as GetTopic tells them. */
export async function contentsOf(client: TestClient) {
  const topic = decodeGetTopicReply(await client.ok("GetTopic", encodeGetTopic(target)));
  const [partition] = topic?.partitions ?? [];
  return {
    messages: partition?.messagesCount,
    bytes: partition?.byteLength,
    segments: partition?.segmentsCount,
    topicMessages: topic?.messagesCount,
  };
}
