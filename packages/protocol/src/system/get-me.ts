import { decodeWith, encodeWith } from "../body-codec.ts";
import { type ClientDetails, readClientDetails, writeClientDetails } from "./client-record.ts";

/** The asking connection itself. The request has no body. */
export function encodeGetMeReply(client: ClientDetails): Uint8Array {
  return encodeWith(writeClientDetails, client);
}

/** The counterpart of `encodeGetMeReply`; throws WireError. */
export function decodeGetMeReply(payload: Uint8Array): ClientDetails {
  return decodeWith(readClientDetails, payload);
}
