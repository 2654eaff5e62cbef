import type {
  PartitionRetention as PartitionRecord,
  RetentionSum as SumRecord,
  TopicRetention as TopicRecord,
} from "@millrace/protocol";

/** Sealed segments of a partition, their messages and their bytes. */
export interface RetentionSum {
  readonly segmentsCount: number;
  readonly messagesCount: bigint;
  readonly size: bigint;
}

/** Whose stored offset keeps sealed segments of a partition. */
export interface RetentionHolder {
  readonly kind: "consumer" | "group";
  /** Number of the consumer (the hash of its name, when it has one) or of the group. */
  readonly id: number;
  /** Name of a group; undefined for a plain consumer and for a group that is gone. */
  readonly name: string | undefined;
  /** True for a group while a member owns the partition: then only that member may delete the offset. */
  readonly isOwned: boolean;
  readonly storedOffset: bigint;
  /** Sealed segments it keeps, and how many of those expiry or size would remove now. */
  readonly segmentsCount: number;
  readonly dueSegmentsCount: number;
}

/** What retention does to one partition. The segment that is written never goes. */
export interface PartitionRetention {
  readonly partitionId: number;
  /** Code of the error for which the partition takes no writes, so that nothing is removed. */
  readonly faultCode: number | undefined;
  /** Oldest offset that can be read; the next one to be written when there is none. */
  readonly firstOffset: bigint;
  readonly sealed: RetentionSum;
  /** What expiry and what size want to go, whoever still needs it. */
  readonly expired: RetentionSum;
  readonly overSize: RetentionSum;
  /** What goes with the next look of the cleaner, and what stays for the holders. */
  readonly removable: RetentionSum;
  readonly heldBack: RetentionSum;
  /** All that keep something; the list has those with the lowest offsets. */
  readonly holdersCount: number;
  readonly holders: readonly RetentionHolder[];
}

/** What retention does to a topic. */
export interface TopicRetention {
  readonly isCleanerEnabled: boolean;
  /** Micros between two looks of the cleaner. */
  readonly cleanerInterval: bigint;
  /** Bytes of sealed segments a partition may keep, `U64_MAX` for any number. */
  readonly partitionBudget: bigint;
  /** True when the topic's limit is less than its partitions hold at least. */
  readonly isBudgetRaised: boolean;
  /** Sorted by id. */
  readonly partitions: readonly PartitionRetention[];
}

/** The retention of a topic from the records of one or more replies, in their order. */
export function topicRetentionOf(
  record: TopicRecord,
  partitions: readonly PartitionRecord[],
): TopicRetention {
  const { isCleanerEnabled, cleanerIntervalMicros, partitionBudget, isBudgetRaised } = record;
  return {
    isCleanerEnabled,
    cleanerInterval: BigInt(cleanerIntervalMicros),
    partitionBudget,
    isBudgetRaised,
    partitions: partitions.map(partitionOf),
  };
}

function partitionOf(record: PartitionRecord): PartitionRetention {
  const { partitionId, faultCode, firstOffset, holdersCount, holders } = record;
  return {
    partitionId,
    faultCode: faultCode === 0 ? undefined : faultCode,
    firstOffset: BigInt(firstOffset),
    sealed: sumOf(record.sealed),
    expired: sumOf(record.expired),
    overSize: sumOf(record.overSize),
    removable: sumOf(record.removable),
    heldBack: sumOf(record.heldBack),
    holdersCount,
    holders: holders.map(({ kind, name, offset, ...holder }) => ({
      ...holder,
      kind: kind === 2 ? "group" : "consumer",
      name: name === "" ? undefined : name,
      storedOffset: BigInt(offset),
    })),
  };
}

function sumOf({ segmentsCount, messagesCount, byteLength }: SumRecord): RetentionSum {
  return { segmentsCount, messagesCount: BigInt(messagesCount), size: BigInt(byteLength) };
}
