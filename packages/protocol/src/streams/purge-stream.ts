import { decodeWith, encodeWith } from "../body-codec.ts";
import { readStreamTarget, type StreamTarget, writeStreamTarget } from "./stream-target.ts";

/** Deletes the messages of a stream and keeps its topics. The reply has no payload. */
export type PurgeStream = StreamTarget;

/** The body of a PurgeStream request. */
export function encodePurgeStream(body: PurgeStream): Uint8Array {
  return encodeWith(writeStreamTarget, body);
}

/** The counterpart of `encodePurgeStream`; throws WireError. */
export function decodePurgeStream(bytes: Uint8Array): PurgeStream {
  return decodeWith(readStreamTarget, bytes);
}
