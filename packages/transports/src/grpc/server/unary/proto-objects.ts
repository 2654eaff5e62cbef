import type { TypedField } from "@millrace/framing";
import {
  type ClientRecord,
  type GroupRecord,
  type OptionEntries,
  type PartitionRecord,
  type Stats,
  type StreamRecord,
  type TopicRecord,
  type UserRecord,
  UserStatusCode,
} from "@millrace/protocol";
import type { ValueKind } from "./millrace-proto.table.ts";

/** Kind and bytes as they are on the wire. */
export function typedValue({ kind, bytes }: TypedField) {
  return { kind: kind as ValueKind, value: bytes };
}

/** The fields of `Stream`. */
export function streamMessage(stream: StreamRecord) {
  const { id, name, topicsCount, options } = stream;
  return { id, name, topicsCount, ...sizes(stream), options: optionMessages(options) };
}

/** The fields of `Topic`. */
export function topicMessage(topic: TopicRecord) {
  const { id, name, partitionsCount, messageExpiry, maxTopicSize } = topic;
  const explicitOptions = optionMessages(topic.explicitOptions);
  const derivedOptions = optionMessages(topic.derivedOptions);
  const own = { id, name, partitionsCount, messageExpiry, maxTopicSize };
  return { ...own, ...sizes(topic), explicitOptions, derivedOptions };
}

/** The fields of `Partition`. */
export function partitionMessage(partition: PartitionRecord) {
  const { id, segmentsCount, currentOffset } = partition;
  return { id, segmentsCount, currentOffset: BigInt(currentOffset), ...sizes(partition) };
}

/** The fields of `ConsumerGroup`. */
export function groupMessage({ id, name, partitionsCount, membersCount }: GroupRecord) {
  return { id, name, partitionsCount, membersCount };
}

/** The fields of `ClientInfo`. */
export function clientMessage({ clientId, userId, transport, address, groupsCount }: ClientRecord) {
  const known = { id: clientId, transport, address, consumerGroupsCount: groupsCount };
  return userId === undefined ? known : { ...known, userId };
}

/** The fields of `User`. */
export function userMessage({ id, createdAt, status, username, options }: UserRecord) {
  const own = { id, createdAt: BigInt(createdAt), status: UserStatusCode[status], username };
  return { ...own, options: optionMessages(options) };
}

/** The fields of `GetStatsResponse`. */
export function statsMessage(stats: Stats) {
  return {
    ...stats,
    memoryUsage: BigInt(stats.memoryUsage),
    totalMemory: BigInt(stats.totalMemory),
    availableMemory: BigInt(stats.availableMemory),
    runTime: BigInt(stats.runTime),
    startTime: BigInt(stats.startTime),
    readBytes: BigInt(stats.readBytes),
    writtenBytes: BigInt(stats.writtenBytes),
    messagesByteLength: BigInt(stats.messagesByteLength),
    messagesCount: BigInt(stats.messagesCount),
    freeDiskSpace: BigInt(stats.freeDiskSpace),
    totalDiskSpace: BigInt(stats.totalDiskSpace),
  };
}

interface Sized {
  readonly createdAt: number;
  readonly byteLength: number;
  readonly messagesCount: number;
}

function sizes({ createdAt, byteLength, messagesCount }: Sized) {
  return {
    createdAt: BigInt(createdAt),
    byteLength: BigInt(byteLength),
    messagesCount: BigInt(messagesCount),
  };
}

function optionMessages(options: OptionEntries) {
  return options.map(({ key, value }) => ({ key, value: typedValue(value) }));
}
