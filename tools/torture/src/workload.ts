import type { MillraceClient, TopicOptions } from "@millrace/client";
import type { MessageContent } from "./content/message-content.ts";
import { type Actor, OneConnection } from "./load/actor.ts";
import { BatchWriter } from "./load/batch-writer.ts";
import { CatalogOperator } from "./load/catalog-operator.ts";
import { OffsetStorer } from "./load/offset-storer.ts";
import { Prober } from "./load/prober.ts";
import { Purger } from "./load/purger.ts";
import { SegmentDeleter } from "./load/segment-deleter.ts";
import { TailReader } from "./load/tail-reader.ts";
import { CatalogHistory } from "./oracle/catalog-history.ts";
import { ConsumerOffsetHistory } from "./oracle/consumer-offset-history.ts";
import type { SentBatches } from "./oracle/sent-batches.ts";
import { TopicHistory } from "./oracle/topic-history.ts";

/** The stream that holds the messages; the catalog operator's streams stand beside it. */
export const STREAM = "torture";
/** The smallest that a topic may have: segments rotate several times a second. */
const SEGMENT_LENGTH = 1_048_576;
/** Keys of the keyed topic: several per partition. */
const KEYS = 24;

const TOPICS = {
  replicated: { partitionsCount: 3, options: { durability: "replicated" } },
  persisted: {
    partitionsCount: 2,
    options: { durability: "persisted", consumerOffsetDurability: "persisted" },
  },
  keyed: { partitionsCount: 4, options: { durability: "replicated" } },
  trimmed: { partitionsCount: 1, options: { durability: "replicated" } },
  purged: { partitionsCount: 2, options: { durability: "replicated" } },
} as const satisfies Record<string, { partitionsCount: number; options: TopicOptions }>;

type TopicName = keyof typeof TOPICS;

/** Everybody who works on the server during a round, with what they know. */
export interface Workload {
  readonly actors: readonly Actor[];
  /** Topics that only grow or lose old segments. */
  readonly topics: readonly TopicHistory[];
  readonly storers: readonly OffsetStorer[];
  readonly purger: Purger;
  readonly catalog: CatalogOperator;
  /** No actor: it writes when it is asked to. */
  readonly prober: Prober;
}

/** Makes stream and topics on a fresh server. */
export async function createTopics(client: MillraceClient): Promise<void> {
  await client.createStream(STREAM);
  for (const [name, { partitionsCount, options }] of Object.entries(TOPICS)) {
    await client.createTopic(STREAM, { name, partitionsCount, segmentSize: SEGMENT_LENGTH, ...options });
  }
}

/** Builds the actors of a run on the topics of `createTopics`. */
export function createWorkload(sent: SentBatches, content: MessageContent): Workload {
  const history = (name: TopicName) => new TopicHistory(name, TOPICS[name].partitionsCount, sent);
  const replicated = history("replicated");
  const persisted = history("persisted");
  const keyed = history("keyed");
  const trimmed = history("trimmed");
  const purged = history("purged");
  const common = { stream: STREAM, sent, content };
  const anyOf = (
    topic: TopicHistory,
  ): Pick<ConstructorParameters<typeof BatchWriter>[0], "choose" | "topic"> => ({
    topic,
    choose: (random) => ({ partition: random.below(topic.partitions.length) }),
  });
  const writers = [
    new BatchWriter({ ...common, name: "replicated-writer-1", inFlightMax: 8, ...anyOf(replicated) }),
    new BatchWriter({
      ...common,
      name: "replicated-writer-2",
      inFlightMax: 3,
      topic: replicated,
      choose: () => "balanced",
    }),
    new BatchWriter({ ...common, name: "persisted-writer-1", inFlightMax: 4, ...anyOf(persisted) }),
    new BatchWriter({ ...common, name: "persisted-writer-2", inFlightMax: 2, ...anyOf(persisted) }),
    new BatchWriter({
      ...common,
      name: "keyed-writer",
      inFlightMax: 4,
      topic: keyed,
      choose: (random) => ({ key: `key-${random.below(KEYS)}` }),
    }),
    new BatchWriter({ ...common, name: "trimmed-writer", inFlightMax: 4, ...anyOf(trimmed) }),
  ];
  const storer = (topic: TopicHistory, partitionId: number) => {
    const partition = topic.partition(partitionId);
    const offsets = new ConsumerOffsetHistory(`storer-of-${topic.name}-${partitionId}`);
    return new OffsetStorer({ stream: STREAM, partition, history: offsets });
  };
  const storers = [storer(replicated, 0), storer(persisted, 1)];
  const purger = new Purger({
    stream: STREAM,
    topic: purged,
    offset: new ConsumerOffsetHistory("storer-of-purged-0"),
    writer: new BatchWriter({ ...common, name: "purged-writer", inFlightMax: 1, ...anyOf(purged) }),
  });
  // The stream of the messages was created first and has id 0.
  const catalog = new CatalogOperator(new CatalogHistory([0]));
  const reader = new TailReader({
    name: "tail-reader",
    stream: STREAM,
    content,
    topics: [replicated, persisted, keyed],
  });
  const deleter = new SegmentDeleter({
    stream: STREAM,
    partition: trimmed.partition(0),
    segmentLength: SEGMENT_LENGTH,
  });
  const prober = new Prober({ ...common, topics: [replicated, persisted, keyed, trimmed] });
  const actors = [
    ...writers.map((writer) => new OneConnection(writer)),
    new OneConnection(reader),
    new OneConnection(...storers, purger, deleter),
    catalog,
  ];
  return { actors, topics: [replicated, persisted, keyed, trimmed], storers, purger, catalog, prober };
}
