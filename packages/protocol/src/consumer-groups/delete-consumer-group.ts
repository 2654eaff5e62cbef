import { decodeWith, encodeWith } from "../body-codec.ts";
import { type GroupTarget, readGroupTarget, writeGroupTarget } from "./group-target.ts";

/** Deletes a consumer group and its offsets. The reply has no payload. */
export type DeleteConsumerGroup = GroupTarget;

/** The body of a DeleteConsumerGroup request. */
export function encodeDeleteConsumerGroup(body: DeleteConsumerGroup): Uint8Array {
  return encodeWith(writeGroupTarget, body);
}

/** The counterpart of `encodeDeleteConsumerGroup`; throws WireError. */
export function decodeDeleteConsumerGroup(bytes: Uint8Array): DeleteConsumerGroup {
  return decodeWith(readGroupTarget, bytes);
}
