import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter, isWireError } from "@millrace/framing";

/** Puts one value into a writer; the counterpart of `Read`. */
export type Write<T> = (writer: ByteWriter, value: T) => void;

/**
 * Takes one value out of a reader. Throws `WireError` on bad bytes; byte fields of the value may be views.
 */
export type Read<T> = (reader: ByteReader) => T;

/** A body that holds exactly what `write` writes. */
export function encodeWith<T>(write: Write<T>, value: T): Uint8Array {
  const writer = new ByteWriter();
  write(writer, value);
  return writer.finish();
}

/**
 * The value a body holds, when `read` consumes the body to its last byte.
 *
 * @throws WireError on bad bytes, and `trailing_bytes` when something follows the last field
 */
export function decodeWith<T>(read: Read<T>, bytes: Uint8Array): T {
  const reader = new ByteReader(bytes);
  const value = read(reader);
  reader.finish();
  return value;
}

/** The reply to a read of one thing: empty when the thing is absent, for "not found" is no error here. */
export function encodeOptionalWith<T>(write: Write<T>, value: T | undefined): Uint8Array {
  return value === undefined ? new Uint8Array(0) : encodeWith(write, value);
}

/** The counterpart of `encodeOptionalWith`: undefined when the reply is empty. */
export function decodeOptionalWith<T>(read: Read<T>, bytes: Uint8Array): T | undefined {
  return bytes.length === 0 ? undefined : decodeWith(read, bytes);
}

/** A body of records back to back, without a count. */
export function encodeRecordsWith<T>(write: Write<T>, records: readonly T[]): Uint8Array {
  const writer = new ByteWriter();
  for (const record of records) write(writer, record);
  return writer.finish();
}

/** The records of a body that has no count and ends with its last record. */
export function decodeRecordsWith<T>(read: Read<T>, bytes: Uint8Array): T[] {
  const reader = new ByteReader(bytes);
  const records: T[] = [];
  while (reader.remaining > 0) records.push(read(reader));
  return records;
}

/**
 * `count` records. Nothing is reserved ahead, so a count that lies costs no more than the bytes that are
 * there.
 */
export function readRecords<T>(reader: ByteReader, read: Read<T>, count: number): T[] {
  const records: T[] = [];
  for (let index = 0; index < count; index += 1) records.push(read(reader));
  return records;
}

/** Numbers as `count u32`, then `count` times u32. */
export function writeU32List(writer: ByteWriter, numbers: readonly number[]): void {
  writer.u32(numbers.length);
  for (const number of numbers) writer.u32(number);
}

/** The counterpart of `writeU32List`. */
export function readU32List(reader: ByteReader): number[] {
  return readRecords(reader, (from) => from.u32(), reader.u32());
}

/** Text of 0..=255 bytes behind its length as u8; passwords and tokens travel so. */
export function writeText8(writer: ByteWriter, text: string): void {
  writer.bytes8(new ByteWriter().utf8(text).finish());
}

/** The counterpart of `writeText8`. */
export function readText8(reader: ByteReader): string {
  return reader.utf8(reader.u8());
}

/**
 * Presence flags count as set when they are exactly 1, unlike booleans, where every non-zero byte is true.
 */
export function readPresence(reader: ByteReader): boolean {
  return reader.u8() === 1;
}

/**
 * Runs `encode` on a value that a caller chose and turns its `WireError` into an error with a code.
 *
 * @throws CodedError InvalidCommand with `details.position` (the byte the field would have had) and
 *         `details.reason`; any other error passes unchanged
 */
export function encodeBody<T>(encode: (value: T) => Uint8Array, value: T): Uint8Array {
  try {
    return encode(value);
  } catch (error) {
    throw invalidCommand("The request cannot be written", error);
  }
}

/**
 * Runs `decode` on bytes from a peer and turns its `WireError` into the error that peer is answered with.
 *
 * @throws CodedError InvalidCommand with `details.position` (bytes from the start of `bytes`) and
 *         `details.reason`; any other error passes unchanged
 */
export function decodeBody<T>(decode: (bytes: Uint8Array) => T, bytes: Uint8Array): T {
  try {
    return decode(bytes);
  } catch (error) {
    throw invalidCommand("The body is not understood", error);
  }
}

function invalidCommand(what: string, error: unknown): unknown {
  if (!isWireError(error)) return error;
  return new CodedError(ErrorCode.InvalidCommand, `${what}: ${error.message}`, {
    details: { position: error.position, reason: error.reason },
    cause: error,
  });
}
