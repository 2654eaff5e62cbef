import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type ByteReader,
  type ByteWriter,
  FIELD_LENGTH_MAX,
  FieldKind,
  readTypedField,
  type TypedField,
  typedField,
  WireError,
  writeTypedField,
} from "@millrace/framing";
import { OPTIONS_COUNT_MAX, OPTIONS_LENGTH_MAX } from "./bounds.ts";

/** One option: a key from a catalog and its typed value. */
export interface OptionEntry {
  readonly key: string;
  readonly value: TypedField;
}

/** Options in the order in which they travel; order has no meaning. */
export type OptionEntries = readonly OptionEntry[];

/** No options; shared, so that bodies without any allocate nothing. */
export const NO_OPTIONS: OptionEntries = [];

/**
 * Options as they end a request: pairs of typed fields up to the last byte of the body, no length in front.
 *
 * @throws CodedError OptionsBlockTooLarge above 1024 pairs or 100 000 bytes
 */
export function writeOptionsToEnd(writer: ByteWriter, options: OptionEntries): void {
  checkCount(options.length);
  const start = writer.length;
  for (const { key, value } of options) {
    writeTypedField(writer, typedField("string", key));
    writeTypedField(writer, value);
  }
  checkLength(writer.length - start);
}

/**
 * The counterpart of `writeOptionsToEnd`; a body that ends here has none. Values are views of the reader's
 * bytes.
 *
 * @throws WireError on a malformed field, `unknown_kind` for a key that is not a string, `bad_value` for one
 *   twice
 * @throws CodedError OptionsBlockTooLarge above 1024 pairs or 100 000 bytes
 */
export function readOptionsToEnd(reader: ByteReader): OptionEntries {
  return readOptions(reader, reader.remaining);
}

/** Options as they stand in replies: `length u32`, then the pairs. Same errors as `writeOptionsToEnd`. */
export function writeOptionsBlock(writer: ByteWriter, options: OptionEntries): void {
  const position = writer.length;
  writer.u32(0);
  writeOptionsToEnd(writer, options);
  writer.setU32(position, writer.length - position - 4);
}

/** The counterpart of `writeOptionsBlock`. Same errors as `readOptionsToEnd`. */
export function readOptionsBlock(reader: ByteReader): OptionEntries {
  const position = reader.position;
  const length = reader.u32();
  if (length > reader.remaining) throw new WireError("unexpected_end", position);
  return readOptions(reader, length);
}

function readOptions(reader: ByteReader, length: number): OptionEntries {
  if (length === 0) return NO_OPTIONS;
  checkLength(length);
  const end = reader.position + length;
  const options: OptionEntry[] = [];
  const keys = new Set<string>();
  while (reader.position < end) {
    checkCount(options.length + 1);
    options.push({ key: readUniqueKey(reader, keys), value: readTypedField(reader) });
  }
  if (reader.position !== end) throw new WireError("bad_length", end);
  return options;
}

function readUniqueKey(reader: ByteReader, keys: Set<string>): string {
  const position = reader.position;
  if (reader.u8() !== FieldKind.string) throw new WireError("unknown_kind", position);
  const length = reader.u32();
  if (length < 1 || length > FIELD_LENGTH_MAX) throw new WireError("bad_length", position + 1);
  const key = reader.utf8(length);
  if (keys.has(key)) throw new WireError("bad_value", position);
  keys.add(key);
  return key;
}

function checkCount(count: number): void {
  if (count <= OPTIONS_COUNT_MAX) return;
  throw new CodedError(
    ErrorCode.OptionsBlockTooLarge,
    `At most ${OPTIONS_COUNT_MAX} options fit one request.`,
    {
      details: { limit: OPTIONS_COUNT_MAX },
    },
  );
}

function checkLength(length: number): void {
  if (length <= OPTIONS_LENGTH_MAX) return;
  throw new CodedError(ErrorCode.OptionsBlockTooLarge, `Options take at most ${OPTIONS_LENGTH_MAX} bytes.`, {
    details: { length, limit: OPTIONS_LENGTH_MAX },
  });
}
