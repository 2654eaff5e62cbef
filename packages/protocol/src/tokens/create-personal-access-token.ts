import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";

/** Creates a token for the caller. `expiryMicros` counts from now; 0 and the u64 maximum mean never. */
export interface CreatePersonalAccessToken {
  readonly name: string;
  readonly expiryMicros: bigint;
}

/** Shape: name, expiry u64. */
export function encodeCreatePersonalAccessToken(body: CreatePersonalAccessToken): Uint8Array {
  return encodeWith(writeCreatePersonalAccessToken, body);
}

/** The counterpart of `encodeCreatePersonalAccessToken`; throws WireError. */
export function decodeCreatePersonalAccessToken(bytes: Uint8Array): CreatePersonalAccessToken {
  return decodeWith(readCreatePersonalAccessToken, bytes);
}

/** The token itself, which nobody can ask for again. */
export function encodeCreatePersonalAccessTokenReply(token: string): Uint8Array {
  return encodeWith(writeToken, token);
}

/** The counterpart of `encodeCreatePersonalAccessTokenReply`; throws WireError. */
export function decodeCreatePersonalAccessTokenReply(payload: Uint8Array): string {
  return decodeWith(readToken, payload);
}

function writeCreatePersonalAccessToken(writer: ByteWriter, body: CreatePersonalAccessToken): void {
  writer.name(body.name).u64(body.expiryMicros);
}

function readCreatePersonalAccessToken(reader: ByteReader): CreatePersonalAccessToken {
  return { name: reader.name(), expiryMicros: reader.u64() };
}

function writeToken(writer: ByteWriter, token: string): void {
  writer.name(token);
}

function readToken(reader: ByteReader): string {
  return reader.name();
}
