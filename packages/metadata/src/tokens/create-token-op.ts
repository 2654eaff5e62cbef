import { ByteReader, ByteWriter, WireError } from "@millrace/framing";

/** CreatePersonalAccessToken as the log carries it: the token only as a digest. */
export interface CreateTokenOp {
  readonly name: string;
  /** BLAKE3 of the token's text, 64 lower-case hex digits. */
  readonly digest: string;
  /** Micros from the op's timestamp on; 0 and the u64 maximum mean never. */
  readonly expiryMicros: bigint;
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Body of operation 146. Shape: name, digest (u8 length + 64 hex digits), expiry u64. */
export function encodeCreateTokenOp(op: CreateTokenOp): Uint8Array {
  return new ByteWriter().name(op.name).name(op.digest).u64(op.expiryMicros).finish();
}

/** The counterpart of `encodeCreateTokenOp`. @throws WireError */
export function decodeCreateTokenOp(bytes: Uint8Array): CreateTokenOp {
  const reader = new ByteReader(bytes);
  const op = { name: reader.name(), digest: readDigest(reader), expiryMicros: reader.u64() };
  reader.finish();
  return op;
}

/** A digest. @throws WireError `bad_value` */
export function readDigest(reader: ByteReader): string {
  const position = reader.position;
  const digest = reader.name();
  if (DIGEST.test(digest)) return digest;
  throw new WireError("bad_value", position);
}
