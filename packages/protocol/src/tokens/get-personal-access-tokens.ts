import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeRecordsWith, encodeRecordsWith } from "../body-codec.ts";

/**
 * A token without its secret. `expiryAt` is micros since the epoch, bigint since clients choose it; 0 means
 * never.
 */
export interface TokenRecord {
  readonly name: string;
  readonly expiryAt: bigint;
}

/** The caller's own tokens: name and expiry u64, to the end. The request has no body. */
export function encodeGetPersonalAccessTokensReply(tokens: readonly TokenRecord[]): Uint8Array {
  return encodeRecordsWith(writeTokenRecord, tokens);
}

/** The counterpart of `encodeGetPersonalAccessTokensReply`; throws WireError. */
export function decodeGetPersonalAccessTokensReply(payload: Uint8Array): TokenRecord[] {
  return decodeRecordsWith(readTokenRecord, payload);
}

function writeTokenRecord(writer: ByteWriter, token: TokenRecord): void {
  writer.name(token.name).u64(token.expiryAt);
}

function readTokenRecord(reader: ByteReader): TokenRecord {
  return { name: reader.name(), expiryAt: reader.u64() };
}
