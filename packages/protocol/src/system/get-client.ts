import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { type ClientDetails, readClientDetails, writeClientDetails } from "./client-record.ts";

/** Asks for one connection by the number the server gave it. */
export interface GetClient {
  readonly clientId: number;
}

/** Shape: client u32. */
export function encodeGetClient(body: GetClient): Uint8Array {
  return encodeWith(writeGetClient, body);
}

/** The counterpart of `encodeGetClient`; throws WireError. */
export function decodeGetClient(bytes: Uint8Array): GetClient {
  return decodeWith(readGetClient, bytes);
}

/** The connection; empty when there is none with this number. */
export function encodeGetClientReply(client: ClientDetails | undefined): Uint8Array {
  return encodeOptionalWith(writeClientDetails, client);
}

/** The counterpart of `encodeGetClientReply`; throws WireError. */
export function decodeGetClientReply(payload: Uint8Array): ClientDetails | undefined {
  return decodeOptionalWith(readClientDetails, payload);
}

function writeGetClient(writer: ByteWriter, body: GetClient): void {
  writer.u32(body.clientId);
}

function readGetClient(reader: ByteReader): GetClient {
  return { clientId: reader.u32() };
}
