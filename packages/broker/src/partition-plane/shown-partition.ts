import { CodedError, ErrorCode } from "@millrace/errors";
import type { Partition } from "@millrace/storage";
import type { PartitionGroup } from "./partition-group.ts";

/** What clients are shown of a stored partition. */
export type ShownPartition = Pick<
  Partition,
  | "firstOffset"
  | "nextOffset"
  | "committedNextOffset"
  | "messageCount"
  | "byteLength"
  | "segmentCount"
  | "sealedSegments"
  | "offsetsFault"
  | "consumerOffset"
  | "consumerOffsetIds"
  | "mayStoreConsumerOffset"
  | "acceptedConsumerOffset"
  | "acceptedConsumerOffsets"
  | "read"
>;

/**
 * What clients are shown from the decision to purge a partition until that is committed, which a disk without
 * room puts off: it was answered, so nothing of before is seen again.
 */
const PURGED: ShownPartition = {
  firstOffset: 0,
  nextOffset: 0,
  committedNextOffset: 0,
  messageCount: 0,
  byteLength: 0,
  segmentCount: 1,
  sealedSegments: () => [],
  offsetsFault: undefined,
  consumerOffset: () => undefined,
  consumerOffsetIds: () => [],
  mayStoreConsumerOffset: () => true,
  acceptedConsumerOffset: () => undefined,
  acceptedConsumerOffsets: () => [],
  read: (_request, done) => done(undefined),
};

/** What clients are shown of a group's partition; nothing while it is not open, or what it held is lost. */
export function shownOf({ partition, purges, isLost }: PartitionGroup): ShownPartition | undefined {
  if (isLost) return undefined;
  return partition !== undefined && purges.isDueIn(partition) ? PURGED : partition;
}

/**
 * The same of a partition that is open and not ahead.
 * @throws CodedError as `openPartition` of the group; 58 while what it held is lost
 */
export function shownPartition(group: PartitionGroup): ShownPartition {
  const partition = group.openPartition;
  if (group.isLost) {
    const text = "The replica waits for another one's state: files of the partition are gone here.";
    throw new CodedError(ErrorCode.TransientNotAccepted, text);
  }
  return group.purges.isDueIn(partition) ? PURGED : partition;
}
