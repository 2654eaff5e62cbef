import { isOpenTable, tableShape } from "./schema-leaves.ts";

/** Dotted names of keys in `given` that the schema does not know, for a warning: most are typing errors. */
export function unknownKeys(
  schema: unknown,
  given: unknown,
  path: readonly string[] = [],
): readonly string[] {
  const shape = tableShape(schema);
  if (shape === undefined || isOpenTable(schema) || typeof given !== "object" || given === null) return [];
  return Object.entries(given).flatMap(([key, value]) =>
    Object.hasOwn(shape, key) ? unknownKeys(shape[key], value, [...path, key]) : [[...path, key].join(".")],
  );
}
