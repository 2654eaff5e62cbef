import type { Purger } from "../load/purger.ts";
import type { Reader } from "./read-partition.ts";
import { type Depth, verifyTopic } from "./verify-topic.ts";

/** Whether the server shows nothing at all in a topic. */
async function isEmpty(reader: Reader, purger: Purger): Promise<boolean> {
  for (const { partition } of purger.topic.partitions) {
    const { messages } = await reader.client.pollMessages({
      stream: reader.stream,
      topic: purger.topic.name,
      partitionId: partition,
      consumer: "verifier",
      startAt: "first",
      count: 1,
    });
    if (messages.length > 0) return false;
  }
  return true;
}

/**
 * Reads the topic that is purged again and again. An unanswered purge has happened for all partitions and
 * the stored offset, or for none of them.
 */
export async function verifyPurgedTopic(reader: Reader, purger: Purger, depth: Depth): Promise<number> {
  if (purger.isPurgeUnanswered) purger.settlePurge(await isEmpty(reader, purger));
  const count = await verifyTopic(reader, purger.topic, { ...depth, isWhole: true });
  const stored = await reader.client.getConsumerOffset(purger.offsetPlace);
  purger.offset.see(stored === undefined ? undefined : Number(stored.storedOffset));
  return count;
}
