import { type FieldValue, fieldKindName, fieldValue, type TypedField } from "@millrace/framing";
import type { JsonValue } from "../output/json-writer.ts";
import { bytesText } from "./payload.ts";

/** A typed field as people read it; raw bytes as text when they are text, else base64. */
export function fieldText(field: TypedField): string {
  return valueText(fieldValue(field));
}

/** The value of a typed field as people read it. */
export function valueText(value: FieldValue): string {
  return value instanceof Uint8Array ? bytesText(value).text : String(value);
}

/** A typed field in JSON: numbers exact, raw bytes as text when they are text, else base64. */
export function fieldJson(field: TypedField): JsonValue {
  return valueJson(fieldValue(field));
}

/** The value of a typed field in JSON. */
export function valueJson(value: FieldValue): JsonValue {
  return value instanceof Uint8Array ? bytesText(value).text : value;
}

/** Name of a field's kind, such as `uint32`; its number when this version does not know it. */
export function fieldKindText(field: TypedField): string {
  return fieldKindName(field.kind) ?? String(field.kind);
}
