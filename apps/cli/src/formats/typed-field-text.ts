import { type FieldValue, fieldKindName, fieldValue, type TypedField } from "@millrace/framing";
import type { JsonValue } from "../output/json-writer.ts";
import { bytesText } from "./payload.ts";
import { U64_MAX } from "./whole-number.ts";

/** A typed field as people read it; raw bytes as text when they are text, else base64. */
export function fieldText(field: TypedField): string {
  return valueText(fieldValue(field));
}

/** The value of a typed field as people read it. */
export function valueText(value: FieldValue): string {
  return value instanceof Uint8Array ? bytesText(value).text : String(value);
}

/** What the largest number means as a limit, where it is none; see `parseSize` and `parseExpiry`. */
const NO_LIMIT: ReadonlyMap<string, string> = new Map([
  ["max_topic_size", "unlimited"],
  ["message_expiry", "never"],
]);

/** The value of an option as people read it, in the words of the topic's own fields. */
export function optionText(key: string, value: FieldValue): string {
  const noLimit = value === U64_MAX ? NO_LIMIT.get(key) : undefined;
  return noLimit ?? valueText(value);
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
