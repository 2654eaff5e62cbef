import { CodedError, ErrorCode } from "@millrace/errors";

const ID_LENGTH = 16;
const HALF_BITS = 64n;
const HALF_MASK = 0xffff_ffff_ffff_ffffn;

/** A message's id from its 16 bytes, highest first; 0 for none. @throws CodedError InvalidCommand */
export function idOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  if (bytes.length !== ID_LENGTH) {
    const text = `A message's id has ${bytes.length} bytes; it is ${ID_LENGTH} bytes, or left out.`;
    throw new CodedError(ErrorCode.InvalidCommand, text);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, ID_LENGTH);
  return (view.getBigUint64(0) << HALF_BITS) | view.getBigUint64(8);
}

/** The 16 bytes of an id, highest first. */
export function idBytes(id: bigint): Uint8Array {
  const bytes = new Uint8Array(ID_LENGTH);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, id >> HALF_BITS);
  view.setBigUint64(8, id & HALF_MASK);
  return bytes;
}
