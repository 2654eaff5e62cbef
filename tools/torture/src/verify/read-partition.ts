import type { MillraceClient } from "@millrace/client";
import type { MessageContent } from "../content/message-content.ts";
import { PartitionRead } from "../oracle/partition-read.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { Violation } from "../oracle/violation.ts";

const POLL_COUNT = 2000;

/** What reading needs besides the place. */
export interface Reader {
  readonly client: MillraceClient;
  readonly stream: string;
  readonly content: MessageContent;
}

/** Which part of a partition to read. */
export interface PartitionRange {
  readonly topic: TopicHistory;
  readonly partitionId: number;
  readonly from: number;
  /** Exclusive; left out, to the end. */
  readonly to?: number;
}

/**
 * Reads a range of a partition and judges every message of it. Returns how many there were.
 *
 * @throws Violation of any kind of the oracle; answer when a read is empty before the end the server itself
 * names
 */
export async function readPartition(reader: Reader, range: PartitionRange): Promise<number> {
  const { topic, partitionId, from } = range;
  const to = range.to ?? Number.POSITIVE_INFINITY;
  const read = new PartitionRead(topic, partitionId, from);
  for (;;) {
    const polled = await reader.client.pollMessages({
      stream: reader.stream,
      topic: topic.name,
      partitionId,
      consumer: "verifier",
      startAt: { offset: read.next },
      count: Math.min(POLL_COUNT, to - read.next),
    });
    for (const message of polled.messages) {
      checkPartition(message.partitionId, range);
      read.see(reader.content.judge(message));
    }
    if (polled.messages.length === 0) read.seeNothing(Number(polled.currentOffset));
    if (polled.messages.length === 0 || read.next >= to) break;
  }
  read.finish(to);
  return read.count;
}

function checkPartition(stated: number, { topic, partitionId }: PartitionRange): void {
  if (stated === partitionId) return;
  throw new Violation("answer", `${topic.name}/${partitionId} answered with a batch of partition ${stated}`);
}
