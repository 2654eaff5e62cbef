import { SeededRandom } from "@millrace/testkit";
import { PartitionRead } from "./partition-read.ts";
import { type SentBatch, SentBatches } from "./sent-batches.ts";
import { type SeenMessage, TopicHistory } from "./topic-history.ts";

/** A topic of two partitions with a made-up past, and what an honest server would show of it. */
export interface FabricatedHistory {
  readonly topic: TopicHistory;
  /** By partition. */
  readonly shown: SeenMessage[][];
}

/** The messages of a placed batch as a reader gets them. */
export function messagesOf(batch: SentBatch, baseOffset = batch.baseOffset): SeenMessage[] {
  return Array.from({ length: batch.count }, (_, index) => ({
    offset: baseOffset + index,
    number: batch.firstNumber + index,
    isIntact: true,
  }));
}

/** Notes a batch of `count` messages as sent. */
export function sendBatch(topic: TopicHistory, count: number, writer = "writer"): SentBatch {
  return topic.send({ writer, round: 1, count, length: 256 + 100 * count });
}

/** A topic with two partitions and nothing in it. */
export function emptyTopic(): TopicHistory {
  return new TopicHistory("topic", 2, new SentBatches());
}

/**
 * Batches of chance, most of them acknowledged, some unanswered and written, some unanswered and not
 * written, with a gap of offsets here and there as a crash may leave.
 */
export function fabricateHistory(seed: number): FabricatedHistory {
  const random = new SeededRandom(seed);
  const topic = emptyTopic();
  const shown: SeenMessage[][] = [[], []];
  const ends = [0, 0];
  for (let index = 0; index < 12; index += 1) {
    const batch = sendBatch(topic, 2 + random.below(9));
    // The first and last batches of both partitions are acknowledged, so that a cut at either end is a loss.
    const fate = index < 4 || index >= 10 ? 0 : random.below(6);
    if (fate === 5) {
      topic.loseAnswer(batch);
      continue;
    }
    const partition = index % 2;
    const base = (ends[partition] as number) + (random.below(5) === 0 ? 7 : 0);
    ends[partition] = base + batch.count;
    shown[partition]?.push(...messagesOf(batch, base));
    if (fate === 4) topic.loseAnswer(batch);
    else topic.acknowledge(batch, partition, base);
  }
  return { topic, shown };
}

/**
 * Reads both partitions from the start to the end and ends the round, as after a restart. Throws Violation.
 */
export function readAll({ topic, shown }: FabricatedHistory): void {
  shown.forEach((messages, partition) => {
    const read = new PartitionRead(topic, partition, 0);
    for (const message of messages) read.see(message);
    read.finish();
  });
  topic.endRound();
}
