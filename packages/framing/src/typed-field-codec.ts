import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { checkedKind, type TypedField, textOf } from "./typed-field.ts";

/** A key and its value, as user headers and options hold them. */
export type TypedFieldPair = readonly [key: TypedField, value: TypedField];

/**
 * Reads one field: kind u8, length u32 (1..255), data. The data is a view; text is checked to be UTF-8.
 * @throws WireError `unexpected_end`, `unknown_kind`, `bad_length`, `invalid_utf8`
 */
export function readTypedField(reader: ByteReader): TypedField {
  const at = reader.position;
  const kind = reader.u8();
  const length = reader.u32();
  const kindName = checkedKind(kind, length, at);
  const dataAt = reader.position;
  const bytes = reader.bytes(length);
  if (kindName === "string") textOf(bytes, dataAt);
  return { kind, bytes };
}

/**
 * Writes one field.
 * @throws WireError `unknown_kind` or `bad_length` when the field was not made by `typedField`
 */
export function writeTypedField(writer: ByteWriter, field: TypedField): void {
  checkedKind(field.kind, field.bytes.byteLength, writer.length);
  writer.u8(field.kind).bytes32(field.bytes);
}

/**
 * Reads a run of pairs that fills `bytes` exactly (user headers, options of a request). No bytes, no pairs.
 *
 * The fields are views. Order is kept and repeated keys are not judged; a pair takes at least 12 bytes, so
 * the length of `bytes` bounds the result.
 * @throws WireError as `readTypedField`; `unexpected_end` for a key without a value
 */
export function decodeTypedFields(bytes: Uint8Array): TypedFieldPair[] {
  const reader = new ByteReader(bytes);
  const pairs: TypedFieldPair[] = [];
  while (reader.remaining > 0) pairs.push([readTypedField(reader), readTypedField(reader)]);
  return pairs;
}

/** Writes pairs one after another in the order given, without a length in front. */
export function encodeTypedFields(pairs: readonly TypedFieldPair[]): Uint8Array {
  const writer = new ByteWriter();
  for (const [key, value] of pairs) {
    writeTypedField(writer, key);
    writeTypedField(writer, value);
  }
  return writer.finish();
}
