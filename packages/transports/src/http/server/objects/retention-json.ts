import type { PartitionRetention, RetentionHolder, RetentionSum, TopicRetention } from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";
import { sizeText } from "./option-json.ts";

const UNLIMITED = 0xffff_ffff_ffff_ffffn;
const GROUP = 2;

/** TopicRetention. */
export function topicRetentionJson(retention: TopicRetention): JsonValue {
  const { partitionBudget } = retention;
  return {
    cleaner_enabled: retention.isCleanerEnabled,
    cleaner_interval: retention.cleanerIntervalMicros,
    partition_budget: partitionBudget === UNLIMITED ? null : partitionBudget,
    budget_raised: retention.isBudgetRaised,
    partitions: retention.partitions.map(partitionJson),
  };
}

function partitionJson(partition: PartitionRetention): JsonValue {
  const { faultCode } = partition;
  return {
    id: partition.partitionId,
    fault: faultCode === 0 ? null : faultCode,
    first_offset: partition.firstOffset,
    sealed: sumJson(partition.sealed),
    expired: sumJson(partition.expired),
    over_size: sumJson(partition.overSize),
    removable: sumJson(partition.removable),
    held_back: sumJson(partition.heldBack),
    holders_count: partition.holdersCount,
    holders: partition.holders.map(holderJson),
  };
}

function sumJson({ segmentsCount, messagesCount, byteLength }: RetentionSum): JsonValue {
  return { segments_count: segmentsCount, messages_count: messagesCount, size: sizeText(byteLength) };
}

function holderJson(holder: RetentionHolder): JsonValue {
  return {
    kind: holder.kind === GROUP ? "consumer_group" : "consumer",
    id: holder.id,
    name: holder.name === "" ? null : holder.name,
    owned: holder.isOwned,
    stored_offset: holder.offset,
    segments_count: holder.segmentsCount,
    due_segments_count: holder.dueSegmentsCount,
  };
}
