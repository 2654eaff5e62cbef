import { decodeRecordsWith, encodeRecordsWith } from "../body-codec.ts";
import { readStreamRecord, type StreamRecord, writeStreamRecord } from "./stream-record.ts";

/** Every stream, sorted by id, records to the end. The request has no body. */
export function encodeGetStreamsReply(streams: readonly StreamRecord[]): Uint8Array {
  return encodeRecordsWith(writeStreamRecord, streams);
}

/** The counterpart of `encodeGetStreamsReply`. Option values are views of `payload`. */
export function decodeGetStreamsReply(payload: Uint8Array): StreamRecord[] {
  return decodeRecordsWith(readStreamRecord, payload);
}
