import { CodedError, ErrorCode } from "@millrace/errors";
import { FIELD_LENGTHS, FieldKind, type FieldKindName, fieldKindName } from "./field-kind.ts";
import { decodeUtf8, encodeUtf8 } from "./utf8-text.ts";
import { viewOf } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/** Longest raw or string field; the wire format fixes it. */
export const FIELD_LENGTH_MAX = 255;

/**
 * One typed value as it stands on the wire: kind byte and data bytes (1..255, fixed for numbers and bool).
 */
export interface TypedField {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** What a typed field can hold: 64- and 128-bit integers come out as bigint, shorter ones as number. */
export type FieldValue = Uint8Array | string | boolean | number | bigint;

/**
 * Makes a typed field from a value of the language.
 *
 * `raw` takes bytes (copied), `string` text, `bool` a boolean, integers a whole number or bigint within their
 * range, floats a number. A float32 is rounded to the nearest.
 * @throws CodedError InvalidHeaderValue when the value is of another type, out of range, or not 1..255 bytes
 */
export function typedField(kindName: FieldKindName, value: FieldValue): TypedField {
  const bytes = fieldBytes(kindName, value);
  if (bytes === undefined || bytes.byteLength < 1 || bytes.byteLength > FIELD_LENGTH_MAX) {
    throw new CodedError(
      ErrorCode.InvalidHeaderValue,
      `The value does not fit a field of kind ${kindName}, which takes ${takes(kindName)}.`,
      {
        details: { kind: FieldKind[kindName], length: bytes?.byteLength ?? 0, lengthMax: FIELD_LENGTH_MAX },
      },
    );
  }
  return { kind: FieldKind[kindName], bytes };
}

/**
 * The value of a field. Bytes of a raw field are a view.
 * @throws WireError `unknown_kind`, `bad_length` (both at 0), or `invalid_utf8` for text that is none
 */
export function fieldValue(field: TypedField): FieldValue {
  const kindName = checkedKind(field.kind, field.bytes.byteLength, 0);
  if (kindName === "raw") return field.bytes;
  if (kindName === "string") return textOf(field.bytes, 0);
  const view = viewOf(field.bytes);
  if (kindName === "bool") return view.getUint8(0) !== 0;
  if (kindName === "float32") return view.getFloat32(0, true);
  if (kindName === "float64") return view.getFloat64(0, true);
  return readInteger(view, kindName.startsWith("int"));
}

/**
 * The kind's name, once kind and length are known to fit each other.
 * @throws WireError `unknown_kind` or `bad_length` at `position`
 */
export function checkedKind(kind: number, length: number, position: number): FieldKindName {
  const kindName = fieldKindName(kind);
  if (kindName === undefined) throw new WireError("unknown_kind", position);
  const fixed = FIELD_LENGTHS[kindName];
  const fits = fixed === undefined ? length >= 1 && length <= FIELD_LENGTH_MAX : length === fixed;
  if (!fits) throw new WireError("bad_length", position);
  return kindName;
}

/**
 * Text of UTF-8 bytes.
 * @throws WireError `invalid_utf8` at `position`
 */
export function textOf(bytes: Uint8Array, position: number): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new WireError("invalid_utf8", position);
  return text;
}

function takes(kindName: FieldKindName): string {
  if (kindName === "raw") return `1 to ${FIELD_LENGTH_MAX} bytes`;
  if (kindName === "string") return `text of 1 to ${FIELD_LENGTH_MAX} bytes of UTF-8`;
  if (kindName === "bool") return "true or false";
  if (kindName.startsWith("float")) return "a number";
  const bits = (FIELD_LENGTHS[kindName] ?? 0) * 8;
  return `a whole number of ${bits} bits${kindName.startsWith("u") ? ", from 0" : ""}`;
}

function fieldBytes(kindName: FieldKindName, value: FieldValue): Uint8Array | undefined {
  if (kindName === "raw") return value instanceof Uint8Array ? value.slice() : undefined;
  if (kindName === "string") return typeof value === "string" ? encodeUtf8(value) : undefined;
  if (kindName === "bool") return typeof value === "boolean" ? Uint8Array.of(value ? 1 : 0) : undefined;

  const bytes = new Uint8Array(FIELD_LENGTHS[kindName] ?? 0);
  if (kindName === "float32" || kindName === "float64") {
    if (typeof value !== "number") return undefined;
    if (kindName === "float32") viewOf(bytes).setFloat32(0, value, true);
    else viewOf(bytes).setFloat64(0, value, true);
    return bytes;
  }
  return writeInteger(bytes, kindName.startsWith("int"), value) ? bytes : undefined;
}

/**
 * Writes a whole number in two's complement over all of `bytes`; false when it is not one or does not fit.
 */
function writeInteger(bytes: Uint8Array, signed: boolean, value: FieldValue): boolean {
  if (typeof value !== "bigint" && !(typeof value === "number" && Number.isSafeInteger(value))) return false;
  const wide = BigInt(value);
  const bits = bytes.byteLength * 8;
  const fitted = signed ? BigInt.asIntN(bits, wide) : BigInt.asUintN(bits, wide);
  if (fitted !== wide) return false;
  for (let index = 0; index < bytes.byteLength; index++) {
    bytes[index] = Number((wide >> BigInt(8 * index)) & 0xffn);
  }
  return true;
}

function readInteger(view: DataView, signed: boolean): number | bigint {
  const bits = view.byteLength * 8;
  let wide = 0n;
  for (let index = view.byteLength - 1; index >= 0; index--)
    wide = (wide << 8n) | BigInt(view.getUint8(index));
  const value = signed ? BigInt.asIntN(bits, wide) : wide;
  return bits <= 32 ? Number(value) : value;
}
