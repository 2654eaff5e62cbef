import { decodeWith, encodeWith } from "../body-codec.ts";
import { type GroupTarget, readGroupTarget, writeGroupTarget } from "./group-target.ts";

/** Ends the membership of the session. The reply has no payload. */
export type LeaveConsumerGroup = GroupTarget;

/** The body of a LeaveConsumerGroup request. */
export function encodeLeaveConsumerGroup(body: LeaveConsumerGroup): Uint8Array {
  return encodeWith(writeGroupTarget, body);
}

/** The counterpart of `encodeLeaveConsumerGroup`; throws WireError. */
export function decodeLeaveConsumerGroup(bytes: Uint8Array): LeaveConsumerGroup {
  return decodeWith(readGroupTarget, bytes);
}
