import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";

/** Deletes one of the caller's tokens. The reply has no payload. */
export interface DeletePersonalAccessToken {
  readonly name: string;
}

/** Shape: name. */
export function encodeDeletePersonalAccessToken(body: DeletePersonalAccessToken): Uint8Array {
  return encodeWith(writeDeletePersonalAccessToken, body);
}

/** The counterpart of `encodeDeletePersonalAccessToken`; throws WireError. */
export function decodeDeletePersonalAccessToken(bytes: Uint8Array): DeletePersonalAccessToken {
  return decodeWith(readDeletePersonalAccessToken, bytes);
}

function writeDeletePersonalAccessToken(writer: ByteWriter, body: DeletePersonalAccessToken): void {
  writer.name(body.name);
}

function readDeletePersonalAccessToken(reader: ByteReader): DeletePersonalAccessToken {
  return { name: reader.name() };
}
