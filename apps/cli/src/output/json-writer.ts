/**
 * What a command may answer as JSON. Counts are numbers; ids, offsets and other 64/128-bit values are
 * bigints.
 */
export type JsonValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

const INDENT = "  ";

/**
 * JSON text of `value`, with every bigint written as its exact decimal digits.
 *
 * `JSON.stringify` refuses bigints and would need them as strings; official tools write and expect numbers.
 * @param style `pretty` gives two spaces of indent, `line` gives one line without spaces, for streams of
 *   objects
 */
export function writeJson(value: JsonValue, style: "pretty" | "line" = "pretty"): string {
  return write(value, style === "pretty" ? "\n" : "");
}

function write(value: JsonValue, newline: string): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value))
    return wrap(
      "[",
      value.map((item) => write(item, deeper(newline))),
      "]",
      newline,
    );
  const colon = newline === "" ? ":" : ": ";
  const members = Object.entries(value).map(
    ([name, member]) => JSON.stringify(name) + colon + write(member, deeper(newline)),
  );
  return wrap("{", members, "}", newline);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function deeper(newline: string): string {
  return newline === "" ? "" : newline + INDENT;
}

function wrap(open: string, members: readonly string[], close: string, newline: string): string {
  if (members.length === 0) return open + close;
  const inner = deeper(newline);
  return open + inner + members.join(`,${inner}`) + newline + close;
}
