import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { readStreamDetails, type StreamDetails, writeStreamDetails } from "./stream-record.ts";
import { readStreamTarget, type StreamTarget, writeStreamTarget } from "./stream-target.ts";

/** Asks for one stream and its topics. */
export type GetStream = StreamTarget;

/** The body of a GetStream request. */
export function encodeGetStream(body: GetStream): Uint8Array {
  return encodeWith(writeStreamTarget, body);
}

/** The counterpart of `encodeGetStream`; throws WireError. */
export function decodeGetStream(bytes: Uint8Array): GetStream {
  return decodeWith(readStreamTarget, bytes);
}

/** The stream and its topics; empty when there is no such stream. */
export function encodeGetStreamReply(stream: StreamDetails | undefined): Uint8Array {
  return encodeOptionalWith(writeStreamDetails, stream);
}

/** The counterpart of `encodeGetStreamReply`. Option values are views of `payload`. */
export function decodeGetStreamReply(payload: Uint8Array): StreamDetails | undefined {
  return decodeOptionalWith(readStreamDetails, payload);
}
