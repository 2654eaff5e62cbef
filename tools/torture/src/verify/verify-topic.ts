import type { SeededRandom } from "@millrace/testkit";
import type { PartitionHistory } from "../oracle/partition-history.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { type Reader, readPartition } from "./read-partition.ts";
import { verifyFigures, verifyLookups } from "./verify-lookups.ts";

/** Old batches that are read again in each partition each round. */
const SAMPLES = 3;

/** How much of a topic to read. */
export interface Depth {
  readonly random: SeededRandom;
  /** Everything; otherwise what is new since the last round and samples of what is old. */
  readonly isWhole: boolean;
}

/**
 * Reads a topic after a restart: every partition to its end, so that afterwards everything written is
 * known. Returns the messages read.
 */
export async function verifyTopic(reader: Reader, topic: TopicHistory, depth: Depth): Promise<number> {
  let count = 0;
  for (const history of topic.partitions) {
    const { partition: partitionId } = history;
    // Segments may be deleted from any place on, so such a partition is read from its start.
    const from = depth.isWhole || history.mayBeTrimmed ? history.firstRetained : history.floor;
    count += await readPartition(reader, { topic, partitionId, from });
    await verifyLookups(reader, history, depth.random);
    if (!depth.isWhole) count += await readSamples(reader, topic, history, depth.random);
  }
  await verifyFigures(reader, topic);
  topic.endRound();
  return count;
}

async function readSamples(
  reader: Reader,
  topic: TopicHistory,
  history: PartitionHistory,
  random: SeededRandom,
): Promise<number> {
  let count = 0;
  for (let sample = 0; sample < SAMPLES && history.placed.length > 0; sample += 1) {
    const batch = random.pick(history.placed);
    const from = batch.baseOffset + random.below(batch.count);
    const to = from + 1 + random.below(2 * batch.count);
    count += await readPartition(reader, { topic, partitionId: history.partition, from, to });
  }
  return count;
}
