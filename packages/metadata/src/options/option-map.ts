import type { TypedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";

/** Options by key, in ascending key order, so that equal options give equal bytes. */
export type OptionMap = ReadonlyMap<string, TypedField>;

/** A map in key order with bytes of its own: nothing of the request it came from stays alive. */
export function optionMap(entries: Iterable<readonly [string, TypedField]>): OptionMap {
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
  return new Map(sorted.map(([key, { kind, bytes }]) => [key, { kind, bytes: bytes.slice() }]));
}

/** The map as entries, in key order. */
export function optionEntries(map: OptionMap): OptionEntries {
  return [...map].map(([key, value]) => ({ key, value }));
}
