import type { JsonValue } from "./json-writer.ts";
import { printable } from "./printable.ts";

/** One column or property: its name in JSON, its title for people, and how to read it from an item. */
export interface Field<T> {
  readonly name: string;
  readonly title: string;
  readonly value: (item: T) => JsonValue;
  /** How people see it; the value itself when absent. */
  readonly text?: (item: T) => string;
}

/** A piece of an answer as people read it. */
export type Part =
  | { readonly kind: "sentence"; readonly text: string }
  | { readonly kind: "properties"; readonly rows: readonly (readonly [title: string, text: string])[] }
  | {
      readonly kind: "rows";
      readonly titles: readonly string[];
      readonly rows: readonly (readonly string[])[];
      /** Said instead of the rows when there are none. */
      readonly empty: string;
    };

/** A whole answer of a command: what JSON shows, and the parts that tables and lists show. */
export interface Result {
  readonly json: JsonValue;
  readonly parts: readonly Part[];
}

/** An answer that is one sentence; `json` carries the same facts for programs. */
export function sentence(text: string, json: JsonValue): Result {
  return { json, parts: [{ kind: "sentence", text: printable(text) }] };
}

/** An answer that is a list of items: an array in JSON, one row an item otherwise. */
export function rows<T>(fields: readonly Field<T>[], items: readonly T[], empty: string): Result {
  return {
    json: items.map((item) => objectOf(fields, item)),
    parts: [
      {
        kind: "rows",
        titles: fields.map((field) => field.title),
        rows: items.map((item) => textsOf(fields, item)),
        empty,
      },
    ],
  };
}

/**
 * An answer that is one item: an object in JSON, Property and Value otherwise.
 * @param nested lists that belong to the item; each becomes a member of the object and a table of its own
 */
export function properties<T>(
  fields: readonly Field<T>[],
  item: T,
  nested: Readonly<Record<string, Result>> = {},
): Result {
  const members = Object.entries(nested).map(([name, result]) => [name, result.json] as const);
  const own: Part = {
    kind: "properties",
    rows: fields.map((field) => [field.title, textOf(field, item)] as const),
  };
  return {
    json: { ...objectOf(fields, item), ...Object.fromEntries(members) },
    parts: [own, ...Object.values(nested).flatMap((result) => result.parts)],
  };
}

/** The JSON object of `item`. */
export function objectOf<T>(fields: readonly Field<T>[], item: T): { readonly [name: string]: JsonValue } {
  return Object.fromEntries(fields.map((field) => [field.name, field.value(item)]));
}

/** The texts of `item`, one a field, safe for a terminal. */
export function textsOf<T>(fields: readonly Field<T>[], item: T): string[] {
  return fields.map((field) => textOf(field, item));
}

function textOf<T>(field: Field<T>, item: T): string {
  if (field.text !== undefined) return printable(field.text(item));
  const value = field.value(item);
  return value === null ? "" : printable(String(value));
}
