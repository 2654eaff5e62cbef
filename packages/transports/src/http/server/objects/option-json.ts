import { fieldValue, isWireError, type TypedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";
import { encodeBase64 } from "../json/base64.ts";
import type { JsonValue } from "../json/write-json.ts";

/** The text an option's value is shown as; bytes that have no other form as base64. */
function optionText(field: TypedField): string {
  try {
    const value = fieldValue(field);
    return value instanceof Uint8Array ? encodeBase64(value) : String(value);
  } catch (error) {
    if (!isWireError(error)) throw error;
    return encodeBase64(field.bytes);
  }
}

/** Options as one object: key to value and whether a client chose it. */
export function optionsJson(explicit: OptionEntries, derived: OptionEntries = []): JsonValue {
  const merged: Record<string, JsonValue> = {};
  for (const { key, value } of derived) merged[key] = { value: optionText(value), explicit: false };
  for (const { key, value } of explicit) merged[key] = { value: optionText(value), explicit: true };
  return merged;
}

/** A size as every client can read it, exactly. */
export function sizeText(bytes: number): string {
  return `${bytes} B`;
}
