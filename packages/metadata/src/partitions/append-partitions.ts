import { CodedError, ErrorCode } from "@millrace/errors";
import { PARTITIONS_PER_REQUEST_MAX, PARTITIONS_PER_TOPIC_MAX } from "@millrace/protocol";
import type { Partition } from "../catalog/partition.ts";
import { identityOf, type Topic } from "../catalog/topic.ts";
import type { CommittedOp } from "../committed-op.ts";
import type { Effect } from "../effect.ts";

/**
 * The partitions and `partitionsCount` new ones, whose ids continue after the highest.
 * @throws CodedError InvalidPartitionsCount above what one request may ask for; PartitionIdSpaceExhausted
 *         when an id would reach 1 000 000
 */
export function appendPartitions(
  partitions: readonly Partition[],
  partitionsCount: number,
  op: CommittedOp,
): readonly Partition[] {
  if (partitionsCount > PARTITIONS_PER_REQUEST_MAX) throw new CodedError(ErrorCode.InvalidPartitionsCount);
  const firstId = (partitions.at(-1)?.id ?? -1) + 1;
  if (firstId + partitionsCount > PARTITIONS_PER_TOPIC_MAX) {
    throw new CodedError(ErrorCode.PartitionIdSpaceExhausted);
  }
  const added = Array.from({ length: partitionsCount }, (_, index) => ({
    id: firstId + index,
    createdAt: op.timestamp,
    revision: op.op,
  }));
  return [...partitions, ...added];
}

/** One effect for each of these partitions of the topic. */
export function partitionsCreated(topic: Topic, partitions: readonly Partition[]): Effect[] {
  return partitions.map((partition) => ({
    kind: "partition-created",
    partition: identityOf(topic, partition),
    topic,
  }));
}
