import { decodeWith, encodeWith } from "../body-codec.ts";
import { type GroupTarget, readGroupTarget, writeGroupTarget } from "./group-target.ts";

/** Makes the session a member; joining twice changes nothing. The reply has no payload. */
export type JoinConsumerGroup = GroupTarget;

/** The body of a JoinConsumerGroup request. */
export function encodeJoinConsumerGroup(body: JoinConsumerGroup): Uint8Array {
  return encodeWith(writeGroupTarget, body);
}

/** The counterpart of `encodeJoinConsumerGroup`; throws WireError. */
export function decodeJoinConsumerGroup(bytes: Uint8Array): JoinConsumerGroup {
  return decodeWith(readGroupTarget, bytes);
}
