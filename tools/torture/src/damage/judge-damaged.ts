import { ErrorCode, isCodedError, type PolledMessages } from "@millrace/client";
import type { OffsetStorer } from "../load/offset-storer.ts";
import { describeBatch, type SentBatch } from "../oracle/sent-batches.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { Violation } from "../oracle/violation.ts";
import type { Reader } from "../verify/read-partition.ts";
import type { Expectation } from "./expectation.ts";

const POLL_COUNT = 2000;

/** What became of the known batches of one partition. */
export interface Found {
  readonly refused: SentBatch[];
  readonly lost: SentBatch[];
}

/**
 * Reads everything that is known of a partition and says which batches are answered with `PartitionDamaged`
 * and
 * which are gone from its end. What is served must be what was sent, in its place, and nothing may be passed
 * over.
 *
 * @throws Violation lost, altered or moved
 */
export async function readDamaged(reader: Reader, topic: TopicHistory, partitionId: number): Promise<Found> {
  const history = topic.partition(partitionId);
  const found: Found = { refused: [], lost: [] };
  let next = history.placed[0]?.baseOffset ?? 0;
  for (;;) {
    const batch = history.batchFrom(next);
    if (batch === undefined) return found;
    next = Math.max(next, batch.baseOffset);
    const polled = await pollOrRefusal(reader, { topic: topic.name, partitionId, from: next });
    if (polled === undefined) {
      found.refused.push(batch);
      next = endOf(batch);
    } else if (polled.messages.length === 0) {
      found.lost.push(...history.placed.filter((one) => endOf(one) > next));
      return found;
    } else {
      const end = judgeMessages(reader, topic, partitionId, { next, polled });
      found.lost.push(...end.passed);
      next = end.next;
    }
  }
}

interface Poll {
  readonly topic: string;
  readonly partitionId: number;
  readonly from: number;
}

/** A poll, or nothing when it is answered with `PartitionDamaged`. */
async function pollOrRefusal(
  { client, stream }: Reader,
  { topic, partitionId, from }: Poll,
): Promise<PolledMessages | undefined> {
  const place = { stream, topic, partitionId, consumer: "verifier" };
  try {
    return await client.pollMessages({ ...place, startAt: { offset: from }, count: POLL_COUNT });
  } catch (error) {
    if (isCodedError(error, ErrorCode.PartitionDamaged)) return undefined;
    throw error;
  }
}

/**
 * Checks each message of an answer against what is known of its offset. Answers the offset behind the last,
 * and the
 * known batches that the answer passes over.
 */
function judgeMessages(
  reader: Reader,
  topic: TopicHistory,
  partitionId: number,
  { next, polled }: { readonly next: number; readonly polled: PolledMessages },
): { readonly next: number; readonly passed: readonly SentBatch[] } {
  const history = topic.partition(partitionId);
  const passed: SentBatch[] = [];
  let expected = next;
  for (const message of polled.messages) {
    const { offset, number, isIntact } = reader.content.judge(message);
    const where = `${topic.name}/${partitionId} offset ${offset}`;
    const batch = history.batchFrom(offset);
    if (offset !== expected) {
      const between = history.placed.filter((one) => endOf(one) > expected && one.baseOffset < offset);
      if (offset < expected || between.some((one) => one.baseOffset < expected || endOf(one) > offset)) {
        throw new Violation("lost", `${where} comes where ${expected} was due`);
      }
      passed.push(...between);
    }
    expected = offset + 1;
    // Behind what is known: what was sent after the damage.
    if (batch === undefined) continue;
    if (number !== batch.firstNumber + offset - batch.baseOffset) {
      throw new Violation("moved", `${where} holds message ${number}, not that of ${describeBatch(batch)}`);
    }
    if (!isIntact)
      throw new Violation("altered", `${where}: message ${number} has other bytes than were sent`);
  }
  return { next: expected, passed };
}

function endOf({ baseOffset, count }: SentBatch): number {
  return baseOffset + count;
}

/** Compares what was found with what the damage may cost. Throws Violation lost. */
export function checkFound(
  name: string,
  { refused, lost }: Found,
  expectation: Expectation,
  log: string,
): void {
  const wrong =
    refused.find((batch) => !expectation.mayRefuse.has(batch)) ??
    lost.find((batch) => !expectation.mayLose.has(batch));
  if (wrong !== undefined) {
    const what = refused.includes(wrong) ? "refused" : "gone without a word";
    throw new Violation(
      "lost",
      `${name}: ${describeBatch(wrong)} is ${what}, though the damage is not there`,
    );
  }
  if (refused.length > expectation.refusedMax) {
    const text = `${name}: ${refused.length} batches are refused; the damage explains ${expectation.refusedMax}`;
    throw new Violation("lost", text);
  }
  if (lost.length > 0 && !/quarantine/.test(log)) {
    throw new Violation("lost", `${name}: ${lost.length} batches are gone, and the log says nothing of it`);
  }
}

/** A stored offset is as it was, or in doubt where the damage may reach it, and then said to be. */
export async function judgeOffset(reader: Reader, storer: OffsetStorer, mayDoubt: boolean): Promise<void> {
  try {
    const stored = await reader.client.getConsumerOffset(storer.place);
    const seen = stored === undefined ? -1 : Number(stored.storedOffset);
    if (seen === storer.history.attempted || (mayDoubt && seen <= storer.history.attempted)) return;
    const text = `${storer.name}: ${seen} is stored, not ${storer.history.attempted}`;
    throw new Violation("consumer-offset", text);
  } catch (error) {
    if (!mayDoubt || !isCodedError(error, ErrorCode.PartitionDamaged)) throw error;
  }
}
