import { fieldValue, isWireError, type TypedField, typedField } from "@millrace/framing";
import { type OptionEntries, type OptionEntry, U64_MAX } from "@millrace/protocol";
import { encodeBase64 } from "../json/base64.ts";
import type { Fields } from "../json/fields.ts";
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

/** Options of a request: an object of texts. */
export function optionTextsJson(options: OptionEntries): JsonValue {
  return Object.fromEntries(options.map(({ key, value }) => [key, optionText(value)]));
}

/** Options of an answer, apart as replies of the binary protocol have them. */
export interface ReadOptions {
  readonly explicit: OptionEntries;
  readonly derived: OptionEntries;
}

/** The options of the catalog that are numbers of 32 bits. */
const NARROW_KEYS: ReadonlySet<string> = new Set(["messages_required_to_save"]);

/**
 * The counterpart of `optionsJson`. The API shows every value as text, so its kind follows from that: digits
 * are a `uint64`, but for the narrow ones of the catalog, true and false a `bool`, all else a `string`.
 */
export function readOptions(fields: Fields): ReadOptions {
  const options = { explicit: [] as OptionEntry[], derived: [] as OptionEntry[] };
  if (!fields.has("options")) return options;
  const object = fields.object("options");
  for (const [key] of object.entries()) {
    const entry = object.object(key);
    const list = entry.flag("explicit", false) ? options.explicit : options.derived;
    list.push({ key, value: fieldOf(key, entry.text("value")) });
  }
  return options;
}

function fieldOf(key: string, text: string): TypedField {
  if (text === "true" || text === "false") return typedField("bool", text === "true");
  const isWhole = /^(?:0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= U64_MAX;
  if (!isWhole) return typedField("string", text);
  return typedField(NARROW_KEYS.has(key) ? "uint32" : "uint64", BigInt(text));
}

/** A size as every client can read it, exactly. */
export function sizeText(bytes: number): string {
  return `${bytes} B`;
}
