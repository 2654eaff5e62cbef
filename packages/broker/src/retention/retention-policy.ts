import type { Topic } from "@millrace/metadata";

/** Longest expiry (285 years) and largest size (8 PiB) that limit anything. */
const LIMIT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** What a topic asks to be removed of each of its partitions. */
export interface RetentionPolicy {
  /** Micros after which a message may go; nothing for never. */
  readonly expiryMicros: number | undefined;
  /** Bytes of sealed segments one partition may keep; nothing for any number. */
  readonly sealedLengthMax: number | undefined;
  /** True when the topic's limit asks for less than can be held, so the budget is more than its share. */
  readonly isBudgetRaised: boolean;
}

/**
 * The policy of a topic as it stands now: look it up again for every pass, an update replaces it.
 *
 * The budget of a partition is its share of `max_topic_size`, and never below one segment and one message of
 * the longest kind: a segment is sealed by the batch that fills it, which lands whole.
 *
 * @param messageLengthMax  longest message a client may send, header included
 * @see server-semantics section 6
 */
export function retentionPolicy(topic: Topic, messageLengthMax: number): RetentionPolicy {
  const { messageExpiry, maxTopicSize, segmentSize, partitions } = topic;
  const expiryMicros = limitOf(messageExpiry);
  const topicLengthMax = limitOf(maxTopicSize);
  if (topicLengthMax === undefined)
    return { expiryMicros, sealedLengthMax: undefined, isBudgetRaised: false };
  const share = Math.floor(topicLengthMax / Math.max(1, partitions.length));
  const smallest = segmentSize + messageLengthMax;
  return {
    expiryMicros,
    sealedLengthMax: Math.max(share, smallest),
    isBudgetRaised: share < smallest,
  };
}

/** True when the topic asks for nothing to be removed. */
export function keepsEverything({ expiryMicros, sealedLengthMax }: RetentionPolicy): boolean {
  return expiryMicros === undefined && sealedLengthMax === undefined;
}

/** A limit beyond every time and size there can be is none, and so is 0: the server's default is no limit. */
function limitOf(limit: bigint): number | undefined {
  return limit === 0n || limit > LIMIT_MAX ? undefined : Number(limit);
}
