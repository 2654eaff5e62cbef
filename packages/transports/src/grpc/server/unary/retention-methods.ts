import {
  type ConsumerKind,
  decodeBody,
  decodeGetTopicRetentionReply,
  encodeGetTopicRetention,
  type PartitionRetention,
  RETENTION_PARTITIONS_MAX,
  type RetentionHolder,
  type RetentionSum,
} from "@millrace/protocol";
import { Millrace } from "./millrace-proto.table.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { topicOf } from "./wire-values.ts";

const { method } = Millrace;
const GROUP: ConsumerKind = 2;

/** What goes from a topic, and who keeps it. */
export const retentionMethods: readonly UnaryMethod[] = [
  unaryMethod(method.getTopicRetention, async (call, request) => {
    const { firstPartitionId, partitionsCount = RETENTION_PARTITIONS_MAX } = request;
    const page = { ...topicOf(request), firstPartitionId, partitionsCount };
    const reply = await ask(call, "GetTopicRetention", encodeGetTopicRetention, page);
    const { cleanerIntervalMicros, partitions, ...topic } = decodeBody(decodeGetTopicRetentionReply, reply);
    const cleanerInterval = BigInt(cleanerIntervalMicros);
    return { ...topic, cleanerInterval, partitions: partitions.map(partitionMessage) };
  }),
];

function partitionMessage(partition: PartitionRetention) {
  const { partitionId, faultCode, firstOffset, holdersCount, holders } = partition;
  return {
    partitionId,
    faultCode,
    firstOffset: BigInt(firstOffset),
    sealed: sumMessage(partition.sealed),
    expired: sumMessage(partition.expired),
    overSize: sumMessage(partition.overSize),
    removable: sumMessage(partition.removable),
    heldBack: sumMessage(partition.heldBack),
    holdersCount,
    holders: holders.map(holderMessage),
  };
}

function sumMessage({ segmentsCount, messagesCount, byteLength }: RetentionSum) {
  return { segmentsCount, messagesCount: BigInt(messagesCount), byteLength: BigInt(byteLength) };
}

function holderMessage({ kind, offset, ...holder }: RetentionHolder) {
  return { ...holder, isGroup: kind === GROUP, offset: BigInt(offset) };
}
