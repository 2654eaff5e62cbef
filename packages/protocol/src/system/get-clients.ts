import { decodeRecordsWith, encodeRecordsWith } from "../body-codec.ts";
import { type ClientRecord, readClientRecord, writeClientRecord } from "./client-record.ts";

/** Every connection, records to the end. The request has no body. */
export function encodeGetClientsReply(clients: readonly ClientRecord[]): Uint8Array {
  return encodeRecordsWith(writeClientRecord, clients);
}

/** The counterpart of `encodeGetClientsReply`; throws WireError. */
export function decodeGetClientsReply(payload: Uint8Array): ClientRecord[] {
  return decodeRecordsWith(readClientRecord, payload);
}
