import { decodeWith, encodeWith } from "../body-codec.ts";
import { readStreamTarget, type StreamTarget, writeStreamTarget } from "./stream-target.ts";

/** Deletes a stream with everything in it. The reply has no payload. */
export type DeleteStream = StreamTarget;

/** The body of a DeleteStream request. */
export function encodeDeleteStream(body: DeleteStream): Uint8Array {
  return encodeWith(writeStreamTarget, body);
}

/** The counterpart of `encodeDeleteStream`; throws WireError. */
export function decodeDeleteStream(bytes: Uint8Array): DeleteStream {
  return decodeWith(readStreamTarget, bytes);
}
