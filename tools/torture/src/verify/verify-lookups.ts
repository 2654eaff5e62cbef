import type { PollStart, ReceivedMessage } from "@millrace/client";
import type { SeededRandom } from "@millrace/testkit";
import type { PartitionHistory } from "../oracle/partition-history.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { Violation } from "../oracle/violation.ts";
import type { Reader } from "./read-partition.ts";

function nameOf({ topic, partition }: PartitionHistory): string {
  return `${topic}/${partition}`;
}

async function firstMessage(
  reader: Reader,
  history: PartitionHistory,
  startAt: PollStart,
): Promise<ReceivedMessage | undefined> {
  const { messages } = await reader.client.pollMessages({
    stream: reader.stream,
    topic: history.topic,
    partitionId: history.partition,
    consumer: "verifier",
    startAt,
    count: 1,
  });
  return messages[0];
}

function expectOffset(
  history: PartitionHistory,
  what: string,
  seen: number | undefined,
  expected: number,
): void {
  if (seen === expected) return;
  throw new Violation(
    "answer",
    `${nameOf(history)}: ${what} gives offset ${seen ?? "none"}, not ${expected}`,
  );
}

/**
 * Finds the start of a partition that was read to its end, its end, and one of its batches by time: the
 * other ways to a message lead where offsets do.
 *
 * @throws Violation answer
 */
export async function verifyLookups(
  reader: Reader,
  history: PartitionHistory,
  random: SeededRandom,
): Promise<void> {
  const { placed } = history;
  const [oldest] = placed;
  if (oldest === undefined) return;
  expectOffset(
    history,
    "first",
    (await firstMessage(reader, history, "first"))?.offsetNumber,
    oldest.baseOffset,
  );
  expectOffset(history, "last", (await firstMessage(reader, history, "last"))?.offsetNumber, history.end - 1);
  await verifyTime(reader, history, random.pick(placed).baseOffset);
}

/** A lookup by the time of a message gives the first message of that time. */
async function verifyTime(reader: Reader, history: PartitionHistory, offset: number): Promise<void> {
  const message = await firstMessage(reader, history, { offset });
  expectOffset(history, `offset ${offset}`, message?.offsetNumber, offset);
  const timestamp = message?.timestamp ?? 0n;
  const found = await firstMessage(reader, history, { timestamp });
  if (found === undefined || found.offsetNumber > offset || found.timestamp !== timestamp) {
    const seen = found === undefined ? "nothing" : `offset ${found.offset} of ${found.timestamp}`;
    throw new Violation(
      "answer",
      `${nameOf(history)}: ${seen} for the time ${timestamp} of offset ${offset}`,
    );
  }
  const before = history.placed.findLast((batch) => batch.baseOffset < found.offsetNumber);
  if (before === undefined) return;
  const earlier = await firstMessage(reader, history, { offset: found.offsetNumber - 1 });
  // A crash may leave a gap of offsets there; then the answer is the found message itself.
  if (earlier === undefined || earlier.offsetNumber >= found.offsetNumber || earlier.timestamp < timestamp)
    return;
  const text = `offset ${earlier.offset} has time ${earlier.timestamp}, but a lookup of ${timestamp} skips it`;
  throw new Violation("answer", `${nameOf(history)}: ${text}`);
}

/**
 * Compares the server's figures of a topic that was read to its end with what was read.
 *
 * @throws Violation answer
 */
export async function verifyFigures(reader: Reader, topic: TopicHistory): Promise<void> {
  const details = await reader.client.getTopic(reader.stream, topic.name);
  for (const history of topic.partitions) {
    const partition = details?.partitions.find(({ id }) => id === history.partition);
    const messagesCount = history.placed.reduce((sum, batch) => sum + batch.count, 0);
    const size = history.placed.reduce((sum, batch) => sum + batch.length, 0);
    const expected = {
      messagesCount,
      size,
      currentOffset: messagesCount === 0 ? undefined : history.end - 1,
    };
    const seen = {
      messagesCount: Number(partition?.messagesCount),
      size: Number(partition?.size),
      currentOffset: messagesCount === 0 ? undefined : Number(partition?.currentOffset),
    };
    if (JSON.stringify(seen) === JSON.stringify(expected)) continue;
    const text = `the server says ${JSON.stringify(seen)}, its messages add up to ${JSON.stringify(expected)}`;
    throw new Violation("answer", `${nameOf(history)}: ${text}`);
  }
}
