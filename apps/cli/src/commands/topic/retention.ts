import type { PartitionRetention, RetentionHolder, RetentionSum, TopicRetention } from "@millrace/client";
import { ErrorCode, errorName, isCodedError } from "@millrace/errors";
import type { Client } from "../../connection/client.ts";
import { durationText } from "../../formats/duration.ts";
import { shellWord } from "../../formats/shell-word.ts";
import { sizeLimitText, sizeText } from "../../formats/size.ts";
import { U64_MAX } from "../../formats/whole-number.ts";
import { type Field, properties, type Result, rows } from "../../output/result.ts";

/** A topic as it was typed. */
interface Place {
  readonly stream: number | string;
  readonly topic: number | string;
}

/** Somebody who keeps segments of a partition, and the command that makes the server forget his offset. */
interface HeldBy extends RetentionHolder {
  readonly partitionId: number;
  readonly release: string;
}

const MICROS_PER_MS = 1000n;

/** Answers of servers that do not know the command: those of Iggy, which keep no account of this. */
const UNKNOWN_COMMAND = new Set<number>([ErrorCode.InvalidCommand, ErrorCode.FeatureUnavailable]);

/**
 * What goes next of a topic, what is held back, by whom, and how to release it: a part of `topic get`. Null
 * when the server does not tell.
 */
export async function retentionResult(client: Client, place: Place): Promise<Result> {
  let retention: TopicRetention;
  try {
    retention = await client.getTopicRetention(place.stream, place.topic);
  } catch (error) {
    if (isCodedError(error) && UNKNOWN_COMMAND.has(error.code)) return { json: null, parts: [] };
    throw error;
  }
  const heldBy = retention.partitions.flatMap((partition) => heldByOf(partition, place));
  return properties(TOPIC_FIELDS, retention, {
    partitions: rows(PARTITION_FIELDS, retention.partitions, "The topic has no partitions."),
    held_by: rows(HOLDER_FIELDS, heldBy, "No stored offset keeps a segment."),
  });
}

function heldByOf({ partitionId, holders }: PartitionRetention, { stream, topic }: Place): HeldBy[] {
  return holders.map((holder) => {
    const kind = holder.kind === "group" ? " --kind consumer-group" : "";
    const words = [holder.id, shellWord(stream), shellWord(topic), partitionId].join(" ");
    return { ...holder, partitionId, release: `millrace consumer-offset delete ${words}${kind}` };
  });
}

const TOPIC_FIELDS: readonly Field<TopicRetention>[] = [
  {
    name: "cleaner_enabled",
    title: "Cleaner",
    value: ({ isCleanerEnabled }) => isCleanerEnabled,
    text: ({ isCleanerEnabled, cleanerInterval }) =>
      isCleanerEnabled ? `every ${durationText(cleanerInterval)}` : "off: nothing is removed",
  },
  {
    name: "cleaner_interval_ms",
    title: "Cleaner interval (ms)",
    value: ({ cleanerInterval }) => cleanerInterval / MICROS_PER_MS,
  },
  {
    name: "partition_budget",
    title: "Sealed bytes a partition may keep",
    value: ({ partitionBudget }) => (partitionBudget === U64_MAX ? null : partitionBudget),
    text: ({ partitionBudget, isBudgetRaised }) =>
      sizeLimitText(partitionBudget) +
      (isBudgetRaised ? " (raised: one segment and one message are the least)" : ""),
  },
  { name: "budget_raised", title: "Raised", value: ({ isBudgetRaised }) => isBudgetRaised },
];

const PARTITION_FIELDS: readonly Field<PartitionRetention>[] = [
  { name: "partition_id", title: "Partition", value: ({ partitionId }) => partitionId },
  { name: "first_offset", title: "First offset", value: ({ firstOffset }) => firstOffset },
  sumField("sealed", "Sealed", ({ sealed }) => sealed),
  sumField("expired", "Expired", ({ expired }) => expired),
  sumField("over_size", "Over size", ({ overSize }) => overSize),
  sumField("removable", "Goes next", ({ removable }) => removable),
  sumField("held_back", "Held back", ({ heldBack }) => heldBack),
  { name: "holders_count", title: "Holders", value: ({ holdersCount }) => holdersCount },
  {
    name: "fault",
    title: "Takes no writes",
    value: ({ faultCode }) => faultCode ?? null,
    text: ({ faultCode }) => (faultCode === undefined ? "" : `${faultCode} ${errorName(faultCode)}`),
  },
];

const HOLDER_FIELDS: readonly Field<HeldBy>[] = [
  { name: "partition_id", title: "Partition", value: ({ partitionId }) => partitionId },
  {
    name: "kind",
    title: "Held by",
    value: ({ kind }) => (kind === "group" ? "consumer-group" : "consumer"),
    text: ({ kind, id, name }) =>
      kind === "group" ? `consumer group ${name === undefined ? id : `"${name}"`}` : `consumer ${id}`,
  },
  { name: "id", title: "ID", value: ({ id }) => id },
  { name: "name", title: "Name", value: ({ name }) => name ?? null },
  { name: "stored_offset", title: "Stored offset", value: ({ storedOffset }) => storedOffset },
  { name: "segments", title: "Keeps segments", value: ({ segmentsCount }) => segmentsCount },
  { name: "due_segments", title: "Of them due", value: ({ dueSegmentsCount }) => dueSegmentsCount },
  {
    name: "owned",
    title: "Read now",
    value: ({ isOwned }) => isOwned,
    text: ({ isOwned }) => (isOwned ? "yes: end its member first" : ""),
  },
  { name: "release", title: "Release with", value: ({ release }) => release },
];

function sumField(
  name: string,
  title: string,
  sumOf: (partition: PartitionRetention) => RetentionSum,
): Field<PartitionRetention> {
  return {
    name,
    title,
    value: (partition) => {
      const { segmentsCount, messagesCount, size } = sumOf(partition);
      return { segments: segmentsCount, messages: messagesCount, size_bytes: size };
    },
    text: (partition) => {
      const { segmentsCount, messagesCount, size } = sumOf(partition);
      return segmentsCount === 0 ? "-" : `${segmentsCount} (${messagesCount} messages, ${sizeText(size)})`;
    },
  };
}
