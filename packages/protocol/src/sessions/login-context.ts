import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { LOGIN_CONTEXT_LENGTH_MAX } from "../bounds.ts";

/** Shape: text behind its length as u32; empty when there is no context. */
export function writeLoginContext(writer: ByteWriter, context: string): void {
  writer.str32(context);
}

/**
 * The counterpart of `writeLoginContext`.
 *
 * @throws WireError `bad_length` above 65 536 bytes, a bound of ours, and those of text
 */
export function readLoginContext(reader: ByteReader): string {
  const position = reader.position;
  const length = reader.u32();
  if (length > LOGIN_CONTEXT_LENGTH_MAX) throw new WireError("bad_length", position);
  return reader.utf8(length);
}
