import {
  CompressionCode,
  type PartitionRecord,
  type StreamDetails as StreamDetailsRecord,
  type StreamRecord,
  type TopicDetails as TopicDetailsRecord,
  type TopicRecord,
} from "@millrace/protocol";
import { type OptionValues, optionValuesOf } from "./option-values.ts";

/** A partition. `currentOffset` is the highest readable offset, and 0 also when the partition is empty. */
export interface Partition {
  readonly id: number;
  /** Micros since 1970. */
  readonly createdAt: bigint;
  readonly segmentsCount: number;
  readonly currentOffset: bigint;
  /** Bytes. */
  readonly size: bigint;
  readonly messagesCount: bigint;
}

/** A topic. `messageExpiry` (micros) and `maxTopicSize` (bytes) are `U64_MAX` for never and unlimited. */
export interface Topic {
  readonly id: number;
  readonly name: string;
  /** Micros since 1970. */
  readonly createdAt: bigint;
  readonly partitionsCount: number;
  readonly compression: "none" | "gzip";
  readonly messageExpiry: bigint;
  readonly maxTopicSize: bigint;
  /** Bytes of its messages. */
  readonly size: bigint;
  readonly messagesCount: bigint;
  /** Options somebody set. */
  readonly options: OptionValues;
  /** Options that follow from the server's defaults. */
  readonly derivedOptions: OptionValues;
}

/** A topic and its partitions, sorted by id. */
export interface TopicDetails extends Topic {
  readonly partitions: readonly Partition[];
}

/** A stream. */
export interface Stream {
  readonly id: number;
  readonly name: string;
  /** Micros since 1970. */
  readonly createdAt: bigint;
  readonly topicsCount: number;
  /** Bytes of its messages. */
  readonly size: bigint;
  readonly messagesCount: bigint;
  readonly options: OptionValues;
}

/** A stream and its topics, sorted by id. */
export interface StreamDetails extends Stream {
  readonly topics: readonly Topic[];
}

function partitionOf(record: PartitionRecord): Partition {
  return {
    id: record.id,
    createdAt: BigInt(record.createdAt),
    segmentsCount: record.segmentsCount,
    currentOffset: BigInt(record.currentOffset),
    size: BigInt(record.byteLength),
    messagesCount: BigInt(record.messagesCount),
  };
}

/** The topic a record of a reply stands for. */
export function topicOf(record: TopicRecord): Topic {
  return {
    id: record.id,
    name: record.name,
    createdAt: BigInt(record.createdAt),
    partitionsCount: record.partitionsCount,
    compression: record.compression === CompressionCode.gzip ? "gzip" : "none",
    messageExpiry: record.messageExpiry,
    maxTopicSize: record.maxTopicSize,
    size: BigInt(record.byteLength),
    messagesCount: BigInt(record.messagesCount),
    options: optionValuesOf(record.explicitOptions),
    derivedOptions: optionValuesOf(record.derivedOptions),
  };
}

/** The topic with its partitions. */
export function topicDetailsOf(record: TopicDetailsRecord): TopicDetails {
  return { ...topicOf(record), partitions: record.partitions.map(partitionOf) };
}

/** The stream a record of a reply stands for. */
export function streamOf(record: StreamRecord): Stream {
  return {
    id: record.id,
    name: record.name,
    createdAt: BigInt(record.createdAt),
    topicsCount: record.topicsCount,
    size: BigInt(record.byteLength),
    messagesCount: BigInt(record.messagesCount),
    options: optionValuesOf(record.options),
  };
}

/** The stream with its topics. */
export function streamDetailsOf(record: StreamDetailsRecord): StreamDetails {
  return { ...streamOf(record), topics: record.topics.map(topicOf) };
}
