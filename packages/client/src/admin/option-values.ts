import { type FieldValue, fieldValue, type TypedField, typedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";

/** Options by key, with the values of the language: 64-bit numbers are bigint. */
export type OptionValues = Readonly<Record<string, FieldValue>>;

/** A raw option: a value whose kind follows from its type, or a typed field to choose the kind. */
export type RawOptionValue = FieldValue | TypedField;

/** Options of a reply by key. */
export function optionValuesOf(entries: OptionEntries): OptionValues {
  return Object.fromEntries(entries.map(({ key, value }) => [key, fieldValue(value)]));
}

/** The typed field of a raw option: text is `string`, numbers `uint64`, booleans `bool`, bytes `raw`. */
export function rawOptionField(value: RawOptionValue): TypedField {
  if (typeof value === "string") return typedField("string", value);
  if (typeof value === "boolean") return typedField("bool", value);
  if (value instanceof Uint8Array) return typedField("raw", value);
  return typeof value === "object" ? value : typedField("uint64", value);
}
