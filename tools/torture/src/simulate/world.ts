import { typedField } from "@millrace/framing";
import {
  type Consumer,
  encodeCreateConsumerGroup,
  encodeCreateStream,
  encodeCreateTopic,
  NO_OPTIONS,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { CatalogHistory } from "../oracle/catalog-history.ts";
import { Violation } from "../oracle/violation.ts";
import { OffsetLedger } from "./offset-ledger.ts";
import { PartitionLedger, SentNumbers } from "./partition-ledger.ts";
import type { SimClient } from "./sim-client.ts";

/** The stream that holds the messages. */
export const STREAM = "simulated";
/** The smallest a topic may have. */
export const SEGMENT_LENGTH = 1_048_576;
const GROUP = "group";

type Durability = "replicated" | "persisted";

/** A partition and what is known of it. */
export interface WorldPartition {
  readonly topic: WorldTopic;
  readonly id: number;
  readonly messages: PartitionLedger;
  readonly offsets: readonly { readonly consumer: Consumer; readonly ledger: OffsetLedger }[];
  /** Changed bits or lost pages may keep it from being written. */
  isHarmed: boolean;
}

/** A topic that messages are sent to. */
export interface WorldTopic {
  readonly name: string;
  readonly durability: Durability;
  readonly offsetDurability: Durability;
  /** Microseconds after which sealed segments go; nothing for a topic that keeps all. */
  readonly expiryMicros?: number;
  readonly partitions: WorldPartition[];
}

/** What every client of a run knows together. */
export interface World {
  readonly topics: readonly WorldTopic[];
  readonly partitions: readonly WorldPartition[];
  /** The streams beside `STREAM`, which hold no messages. */
  readonly catalog: CatalogHistory;
}

const TOPICS = [
  { name: "replicated", durability: "replicated", offsetDurability: "replicated", partitionsCount: 2 },
  { name: "persisted", durability: "persisted", offsetDurability: "persisted", partitionsCount: 2 },
  { name: "mixed", durability: "replicated", offsetDurability: "persisted", partitionsCount: 1 },
  {
    name: "expiring",
    durability: "persisted",
    offsetDurability: "persisted",
    partitionsCount: 1,
    expiryMicros: 400_000,
  },
] as const;

/** The world before anything happened. */
export function createWorld(): World {
  const numbers = new SentNumbers();
  const topics = TOPICS.map(({ partitionsCount, ...rest }) => {
    const topic: WorldTopic = { ...rest, partitions: [] };
    for (let id = 0; id < partitionsCount; id += 1) topic.partitions.push(partitionOf(topic, id, numbers));
    return topic;
  });
  // The stream of the messages was created first and has id 0.
  const catalog = new CatalogHistory([0]);
  return { topics, partitions: topics.flatMap(({ partitions }) => partitions), catalog };
}

function partitionOf(topic: WorldTopic, id: number, numbers: SentNumbers): WorldPartition {
  const name = `${topic.name}/${id}`;
  const consumers: Consumer[] = [
    { kind: "consumer", id: toIdentifier(1) },
    { kind: "group", id: toIdentifier(GROUP) },
  ];
  const offsets = consumers.map((consumer) => ({
    consumer,
    ledger: new OffsetLedger(`${consumer.kind} of ${name}`),
  }));
  const messages = new PartitionLedger(name, numbers, topic.expiryMicros !== undefined);
  return { topic, id, messages, offsets, isHarmed: false };
}

/** How requests name a topic of the world. */
export function targetOf(topic: WorldTopic) {
  return { stream: toIdentifier(STREAM), topic: toIdentifier(topic.name) } as const;
}

/** How requests name a topic's group. */
export function groupOf(topic: WorldTopic) {
  return { ...targetOf(topic), group: toIdentifier(GROUP) } as const;
}

/** Makes stream, topics and groups on a fresh server. @throws Violation answer */
export async function populate(world: World, client: SimClient): Promise<void> {
  const ok = async (answer: Promise<{ readonly code: number }>) => {
    const { code } = await answer;
    if (code !== 0) throw new Violation("answer", `making the topics was answered with ${code}`);
  };
  await ok(client.command("CreateStream", encodeCreateStream({ name: STREAM, options: NO_OPTIONS })));
  for (const topic of world.topics) {
    const options: OptionEntries[number][] = [
      { key: "segment_size", value: typedField("uint64", BigInt(SEGMENT_LENGTH)) },
      { key: "durability", value: typedField("string", topic.durability) },
      { key: "consumer_offset_durability", value: typedField("string", topic.offsetDurability) },
    ];
    if (topic.expiryMicros !== undefined) {
      options.push({ key: "message_expiry", value: typedField("uint64", BigInt(topic.expiryMicros)) });
    }
    const body = { stream: toIdentifier(STREAM), name: topic.name, options };
    const partitionsCount = topic.partitions.length;
    await ok(client.command("CreateTopic", encodeCreateTopic({ ...body, partitionsCount })));
    const group = { ...targetOf(topic), name: GROUP };
    await ok(client.command("CreateConsumerGroup", encodeCreateConsumerGroup(group)));
  }
}
