/** What an answer may hold. Whole numbers beyond 2^53 are bigints. */
export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * JSON text of `value` on one line, with every bigint written as its exact decimal digits.
 *
 * `JSON.stringify` refuses bigints, and official clients expect numbers, not text. A number that JSON cannot
 * express (NaN, infinities) is written as null.
 */
export function writeJson(value: JsonValue): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return isList(value) ? writeList(value) : writeObject(value);
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function writeList(list: readonly JsonValue[]): string {
  let text = "[";
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ",";
    text += writeJson(list[index] as JsonValue);
  }
  return `${text}]`;
}

function writeObject(object: { readonly [name: string]: JsonValue }): string {
  let text = "{";
  for (const name of Object.keys(object)) {
    if (text.length > 1) text += ",";
    text += `${JSON.stringify(name)}:${writeJson(object[name] as JsonValue)}`;
  }
  return `${text}}`;
}
