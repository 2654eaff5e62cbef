import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords, readText8, writeText8 } from "../body-codec.ts";
import { type ConsumerKind, readConsumerKind } from "../consumer.ts";
import { readTopicTarget, type TopicTarget, writeTopicTarget } from "./topic-target.ts";

/** Partitions one reply tells about at most: with every holder named as long as may be, 5 MiB. */
export const RETENTION_PARTITIONS_MAX = 1000;

/** Holders one reply names per partition, those with the lowest offsets; their whole number is told too. */
export const RETENTION_HOLDERS_MAX = 16;

/**
 * Asks what retention does to a topic's partitions: those with an id from `firstPartitionId` on, as many as
 * `partitionsCount` and `RETENTION_PARTITIONS_MAX` allow. A command of ours, no official client sends it.
 */
export interface GetTopicRetention extends TopicTarget {
  readonly firstPartitionId: number;
  readonly partitionsCount: number;
}

/** Sealed segments, their messages and their bytes. */
export interface RetentionSum {
  readonly segmentsCount: number;
  readonly messagesCount: number;
  readonly byteLength: number;
}

/** Whose stored offset keeps sealed segments. */
export interface RetentionHolder {
  readonly kind: ConsumerKind;
  readonly id: number;
  /** Name of a consumer group; empty for a plain consumer, of which only the number is known. */
  readonly name: string;
  /** True for a group while one of its members owns the partition. */
  readonly isOwned: boolean;
  readonly offset: number;
  /** Sealed segments it keeps, and how many of those expiry or size would remove now. */
  readonly segmentsCount: number;
  readonly dueSegmentsCount: number;
}

/** What retention does to one partition, as of the reply. */
export interface PartitionRetention {
  readonly partitionId: number;
  /** 0, or the code of the error for which the partition takes no writes: then nothing is removed. */
  readonly faultCode: number;
  /** Oldest retained offset; the next one to be written when there is no message. */
  readonly firstOffset: number;
  /** All that could ever go: the active segment never does. */
  readonly sealed: RetentionSum;
  /** What expiry wants to go, and what size does, whoever still needs it. */
  readonly expired: RetentionSum;
  readonly overSize: RetentionSum;
  /** What the next pass removes, and what it must keep for the holders. */
  readonly removable: RetentionSum;
  readonly heldBack: RetentionSum;
  readonly holdersCount: number;
  readonly holders: readonly RetentionHolder[];
}

/** How a topic is cleaned, and what that means for the partitions asked for, by ascending id. */
export interface TopicRetention {
  readonly isCleanerEnabled: boolean;
  readonly cleanerIntervalMicros: number;
  /** Bytes of sealed segments a partition may keep, 2^64-1 for any number. */
  readonly partitionBudget: bigint;
  /** True when the limit of the topic is below what partitions hold at least: the budget is no mere share. */
  readonly isBudgetRaised: boolean;
  readonly partitions: readonly PartitionRetention[];
}

/** Shape: stream identifier, topic identifier, first partition u32, partitions u32. */
export function encodeGetTopicRetention(body: GetTopicRetention): Uint8Array {
  return encodeWith(writeRequest, body);
}

/** The counterpart of `encodeGetTopicRetention`; throws WireError. */
export function decodeGetTopicRetention(bytes: Uint8Array): GetTopicRetention {
  return decodeWith(readRequest, bytes);
}

/**
 * Shape: cleaner enabled u8, its interval u64 (micros), budget u64, budget raised u8, partitions u32, then
 * each: id u32, fault u32, first offset u64, five sums (segments u32, messages u64, bytes u64), holders u32,
 * holders listed u32, then each: kind u8, id u32, name (u8 length), owned u8, offset u64, segments u32, due
 * segments u32.
 */
export function encodeGetTopicRetentionReply(retention: TopicRetention): Uint8Array {
  return encodeWith(writeRetention, retention);
}

/** The counterpart of `encodeGetTopicRetentionReply`; throws WireError. */
export function decodeGetTopicRetentionReply(payload: Uint8Array): TopicRetention {
  return decodeWith(readRetention, payload);
}

function writeRequest(writer: ByteWriter, body: GetTopicRetention): void {
  writeTopicTarget(writer, body);
  writer.u32(body.firstPartitionId).u32(body.partitionsCount);
}

function readRequest(reader: ByteReader): GetTopicRetention {
  return { ...readTopicTarget(reader), firstPartitionId: reader.u32(), partitionsCount: reader.u32() };
}

function writeRetention(writer: ByteWriter, retention: TopicRetention): void {
  const { isCleanerEnabled, cleanerIntervalMicros, partitionBudget, isBudgetRaised, partitions } = retention;
  writer.u8(Number(isCleanerEnabled)).u64(cleanerIntervalMicros);
  writer.u64(partitionBudget).u8(Number(isBudgetRaised)).u32(partitions.length);
  for (const partition of partitions) writePartition(writer, partition);
}

function readRetention(reader: ByteReader): TopicRetention {
  return {
    isCleanerEnabled: reader.u8() !== 0,
    cleanerIntervalMicros: reader.u64Number(),
    partitionBudget: reader.u64(),
    isBudgetRaised: reader.u8() !== 0,
    partitions: readRecords(reader, readPartition, reader.u32()),
  };
}

function writePartition(writer: ByteWriter, partition: PartitionRetention): void {
  const { sealed, expired, overSize, removable, heldBack, holders } = partition;
  writer.u32(partition.partitionId).u32(partition.faultCode).u64(partition.firstOffset);
  for (const sum of [sealed, expired, overSize, removable, heldBack]) writeSum(writer, sum);
  writer.u32(partition.holdersCount).u32(holders.length);
  for (const holder of holders) writeHolder(writer, holder);
}

function readPartition(reader: ByteReader): PartitionRetention {
  return {
    partitionId: reader.u32(),
    faultCode: reader.u32(),
    firstOffset: reader.u64Number(),
    sealed: readSum(reader),
    expired: readSum(reader),
    overSize: readSum(reader),
    removable: readSum(reader),
    heldBack: readSum(reader),
    holdersCount: reader.u32(),
    holders: readRecords(reader, readHolder, reader.u32()),
  };
}

function writeSum(writer: ByteWriter, { segmentsCount, messagesCount, byteLength }: RetentionSum): void {
  writer.u32(segmentsCount).u64(messagesCount).u64(byteLength);
}

function readSum(reader: ByteReader): RetentionSum {
  return { segmentsCount: reader.u32(), messagesCount: reader.u64Number(), byteLength: reader.u64Number() };
}

function writeHolder(writer: ByteWriter, holder: RetentionHolder): void {
  writer.u8(holder.kind).u32(holder.id);
  writeText8(writer, holder.name);
  writer.u8(Number(holder.isOwned)).u64(holder.offset);
  writer.u32(holder.segmentsCount).u32(holder.dueSegmentsCount);
}

function readHolder(reader: ByteReader): RetentionHolder {
  return {
    kind: readConsumerKind(reader),
    id: reader.u32(),
    name: readText8(reader),
    isOwned: reader.u8() !== 0,
    offset: reader.u64Number(),
    segmentsCount: reader.u32(),
    dueSegmentsCount: reader.u32(),
  };
}
