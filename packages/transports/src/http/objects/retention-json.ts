import type { PartitionRetention, RetentionHolder, RetentionSum, TopicRetention } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
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

/** The counterpart of `topicRetentionJson`. */
export function readTopicRetentionJson(fields: Fields): TopicRetention {
  return {
    isCleanerEnabled: fields.flag("cleaner_enabled"),
    cleanerIntervalMicros: fields.count("cleaner_interval"),
    partitionBudget: fields.u64("partition_budget", UNLIMITED),
    isBudgetRaised: fields.flag("budget_raised"),
    partitions: fields.objects("partitions").map(readPartition),
  };
}

function readPartition(fields: Fields): PartitionRetention {
  return {
    partitionId: fields.u32("id"),
    faultCode: fields.u32("fault", 0),
    firstOffset: fields.count("first_offset"),
    sealed: readSum(fields.object("sealed")),
    expired: readSum(fields.object("expired")),
    overSize: readSum(fields.object("over_size")),
    removable: readSum(fields.object("removable")),
    heldBack: readSum(fields.object("held_back")),
    holdersCount: fields.u32("holders_count"),
    holders: fields.objects("holders").map(readHolder),
  };
}

function readSum(fields: Fields): RetentionSum {
  return {
    segmentsCount: fields.u32("segments_count"),
    messagesCount: fields.count("messages_count"),
    byteLength: fields.byteSize("size"),
  };
}

function readHolder(fields: Fields): RetentionHolder {
  return {
    kind: fields.choice("kind", { consumer: 1, consumer_group: GROUP } as const),
    id: fields.u32("id"),
    name: fields.optionalText("name") ?? "",
    isOwned: fields.flag("owned"),
    offset: fields.count("stored_offset"),
    segmentsCount: fields.u32("segments_count"),
    dueSegmentsCount: fields.u32("due_segments_count"),
  };
}
