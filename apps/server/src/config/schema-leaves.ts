import { z } from "zod";

/**
 * The keys of a table, or undefined when the schema is not one. Looks through defaults, unions of forms and
 * transforms.
 */
export function tableShape(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) inner = inner.unwrap();
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** True for a table that takes keys it does not name. */
export function isOpenTable(schema: unknown): boolean {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) inner = inner.unwrap();
  return inner instanceof z.ZodObject && inner.def.catchall !== undefined;
}

/** Paths of every value the schema names, in its order. */
export function schemaLeaves(schema: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const shape = tableShape(schema);
  if (shape === undefined) return [path];
  return Object.entries(shape).flatMap(([key, inner]) => schemaLeaves(inner, [...path, key]));
}
