import * as z from "zod";

/**
 * The keys of a table, or undefined when the schema is not one. Looks through defaults, unions of forms and
 * transforms.
 */
export function tableShape(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  const inner = withoutDefault(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** Paths of every value the schema names, in its order. */
export function schemaLeaves(schema: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  const shape = tableShape(schema);
  if (shape === undefined) return [path];
  return Object.entries(shape).flatMap(([key, inner]) => schemaLeaves(inner, [...path, key]));
}

/** The schema of one value the schema names. */
export function schemaAt(schema: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => tableShape(inner)?.[key], schema);
}

/** The schema of a list's elements; undefined when a value is no list. */
export function listElement(schema: unknown): unknown {
  const inner = withoutDefault(schema);
  const forms = inner instanceof z.ZodUnion ? inner.options : [inner];
  const list = forms.find((form) => form instanceof z.ZodArray);
  return list instanceof z.ZodArray ? list.element : undefined;
}

function withoutDefault(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) inner = inner.unwrap();
  return inner;
}
