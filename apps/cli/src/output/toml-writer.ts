import type { JsonValue } from "./json-writer.ts";

/**
 * TOML text of an object: its plain members first, then one `[[name]]` table per item of each list of
 * objects.
 *
 * Covers what `stats` answers: plain members, and lists of objects with plain members. Null members are left
 * out, since TOML has no null.
 * @throws TypeError when the answer is not an object
 */
export function writeToml(value: JsonValue): string {
  if (!isObject(value)) throw new TypeError("only an object can be written as TOML");
  const lists = Object.entries(value).filter(([, member]) => Array.isArray(member));
  const blocks = lists.flatMap(([name, items]) =>
    (items as readonly JsonValue[]).filter(isObject).map((item) => `\n[[${name}]]\n${plainMembers(item)}`),
  );
  return plainMembers(value) + blocks.join("");
}

function plainMembers(object: { readonly [name: string]: JsonValue }): string {
  return Object.entries(object)
    .filter(([, member]) => member !== null && typeof member !== "object")
    .map(([name, member]) => `${name} = ${typeof member === "string" ? JSON.stringify(member) : member}\n`)
    .join("");
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
