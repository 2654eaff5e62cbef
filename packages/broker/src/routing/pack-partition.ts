import { assert } from "@millrace/errors";

/** Most streams of a server: what 20 bits count. */
export const STREAMS_MAX = 2 ** 20;
/** Most topics of a stream: what 12 bits count. */
export const TOPICS_MAX = 2 ** 12;
/** Most partitions of a topic: what 20 bits count, of which the catalog hands out 1 000 000. */
export const PARTITIONS_MAX = 2 ** 20;

/**
 * Stream, topic and partition as one number of 52 bits: stream in the upper 20, topic in 12, partition in the
 * lower 20.
 *
 * A safe integer (below 2^53), so it serves as the key of a `Map` without a text or an object.
 * @see server-semantics section 1, partition-to-worker routing
 */
export function packPartition(streamId: number, topicId: number, partitionId: number): number {
  assert(streamId < STREAMS_MAX && topicId < TOPICS_MAX, "the catalog hands out ids that pack");
  assert(partitionId < PARTITIONS_MAX, "the catalog hands out partition ids that pack");
  return (streamId * TOPICS_MAX + topicId) * PARTITIONS_MAX + partitionId;
}
