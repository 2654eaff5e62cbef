import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { type GroupDetails, readGroupDetails, writeGroupDetails } from "./group-record.ts";
import { type GroupTarget, readGroupTarget, writeGroupTarget } from "./group-target.ts";

/** Asks for one consumer group and its members. */
export type GetConsumerGroup = GroupTarget;

/** The body of a GetConsumerGroup request. */
export function encodeGetConsumerGroup(body: GetConsumerGroup): Uint8Array {
  return encodeWith(writeGroupTarget, body);
}

/** The counterpart of `encodeGetConsumerGroup`; throws WireError. */
export function decodeGetConsumerGroup(bytes: Uint8Array): GetConsumerGroup {
  return decodeWith(readGroupTarget, bytes);
}

/** The group and its members; empty when there is no such group. */
export function encodeGetConsumerGroupReply(group: GroupDetails | undefined): Uint8Array {
  return encodeOptionalWith(writeGroupDetails, group);
}

/** The counterpart of `encodeGetConsumerGroupReply`; throws WireError. */
export function decodeGetConsumerGroupReply(payload: Uint8Array): GroupDetails | undefined {
  return decodeOptionalWith(readGroupDetails, payload);
}
