import { invalid } from "./invalid-setting.ts";
import { configSchema } from "./schema.ts";
import { listElement, schemaAt, schemaLeaves, tableShape } from "./schema-leaves.ts";

/** Prefixes of environment variables, the stronger first. */
const PREFIXES = ["MILLRACE_", "IGGY_"] as const;

/** Environment variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One value that the environment sets. */
export interface Override {
  readonly path: readonly string[];
  /** A text, or a list of texts or tables for settings that are given element by element. */
  readonly value: unknown;
}

/** The value of `NAME` under the first prefix that has one: `MILLRACE_NAME`, else `IGGY_NAME`. */
export function prefixedVariable(environment: Environment, name: string): string | undefined {
  for (const prefix of PREFIXES) {
    const value = environment[`${prefix}${name}`];
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Name of a setting's variable without its prefix: the path in capitals, joined by `_`. */
export function variableName(path: readonly string[]): string {
  return path.join("_").toUpperCase();
}

/**
 * Patterns of all variables there are, without prefixes: for elements of lists `..._0`, and `..._0_KEY`
 * where they are tables.
 */
export function variablePatterns(schema: unknown = configSchema, name = ""): readonly string[] {
  const shape = tableShape(schema);
  if (shape !== undefined) {
    return Object.entries(shape).flatMap(([key, inner]) => variablePatterns(inner, joinName(name, key)));
  }
  const element = listElement(schema);
  return element === undefined ? [name] : [name, ...variablePatterns(element, `${name}_\\d+`)];
}

/**
 * Every configuration value that the environment sets, with its path.
 *
 * Lists come as one variable with commas, or element by element from 0 on: `..._0`, and `..._0_KEY` for
 * elements that are tables. They replace the list of the file.
 *
 * @throws CodedError InvalidConfiguration for a list with gaps
 */
export function environmentOverrides(environment: Environment): readonly Override[] {
  return schemaLeaves(configSchema).flatMap((path) => {
    const value = givenValue(environment, schemaAt(configSchema, path), path);
    return value === undefined ? [] : [{ path, value }];
  });
}

/** What the environment says of a value, or of anything in it; undefined when it says nothing. */
function givenValue(environment: Environment, schema: unknown, path: readonly string[]): unknown {
  const shape = tableShape(schema);
  if (shape === undefined) {
    return prefixedVariable(environment, variableName(path)) ?? elements(environment, schema, path);
  }
  const given = Object.entries(shape).map(([key, inner]) => [
    key,
    givenValue(environment, inner, [...path, key]),
  ]);
  const known = given.filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function elements(environment: Environment, schema: unknown, path: readonly string[]): unknown[] | undefined {
  const element = listElement(schema);
  if (element === undefined) return undefined;
  const found: unknown[] = [];
  for (const index of indices(environment, variableName(path))) {
    if (index !== found.length) throw invalid(`${path.join(".")}[${found.length}]`, "is missing in the list");
    found.push(givenValue(environment, element, [...path, String(index)]));
  }
  return found.length === 0 ? undefined : found;
}

/** Indices of a list that some variable has, in order. */
function indices(environment: Environment, name: string): readonly number[] {
  const shape = new RegExp(`^(?:${PREFIXES.join("|")})${name}_(\\d+)(?:_|$)`);
  const found = Object.keys(environment).flatMap((variable) => {
    const index = shape.exec(variable)?.[1];
    return index === undefined ? [] : [Number(index)];
  });
  return [...new Set(found)].sort((a, b) => a - b);
}

function joinName(name: string, key: string): string {
  return name === "" ? key.toUpperCase() : `${name}_${key.toUpperCase()}`;
}
