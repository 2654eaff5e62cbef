import { decodeRecordsWith, decodeWith, encodeRecordsWith, encodeWith } from "../body-codec.ts";
import { readTopicTarget, type TopicTarget, writeTopicTarget } from "../topics/topic-target.ts";
import { type GroupRecord, readGroupRecord, writeGroupRecord } from "./group-record.ts";

/** Asks for the consumer groups of a topic. */
export type GetConsumerGroups = TopicTarget;

/** The body of a GetConsumerGroups request. */
export function encodeGetConsumerGroups(body: GetConsumerGroups): Uint8Array {
  return encodeWith(writeTopicTarget, body);
}

/** The counterpart of `encodeGetConsumerGroups`; throws WireError. */
export function decodeGetConsumerGroups(bytes: Uint8Array): GetConsumerGroups {
  return decodeWith(readTopicTarget, bytes);
}

/** The groups, sorted by id, records to the end. */
export function encodeGetConsumerGroupsReply(groups: readonly GroupRecord[]): Uint8Array {
  return encodeRecordsWith(writeGroupRecord, groups);
}

/** The counterpart of `encodeGetConsumerGroupsReply`; throws WireError. */
export function decodeGetConsumerGroupsReply(payload: Uint8Array): GroupRecord[] {
  return decodeRecordsWith(readGroupRecord, payload);
}
