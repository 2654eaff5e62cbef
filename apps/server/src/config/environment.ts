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

/** The list that a variable such as `..._ALLOWED_ORIGINS_0` or `..._TRUSTED_ISSUERS_0_ISSUER` belongs to. */
export function listName(variable: string): string | undefined {
  return /^(.+?)_\d+(?:_[A-Z_]+)?$/.exec(variable)?.[1];
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
    const name = variableName(path);
    const value = prefixedVariable(environment, name) ?? elements(environment, name, path);
    return value === undefined ? [] : [{ path, value }];
  });
}

function elements(environment: Environment, name: string, path: readonly string[]): unknown[] | undefined {
  const element = listElement(schemaAt(configSchema, path));
  if (element === undefined) return undefined;
  const shape = tableShape(element);
  const found: unknown[] = [];
  for (const index of indices(environment, name)) {
    if (index !== found.length) throw invalid(`${path.join(".")}[${found.length}]`, "is missing in the list");
    const own = `${name}_${index}`;
    found.push(shape === undefined ? prefixedVariable(environment, own) : fields(environment, own, shape));
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

function fields(environment: Environment, name: string, shape: Readonly<Record<string, unknown>>): object {
  const given = Object.keys(shape).map((key) => [
    key,
    prefixedVariable(environment, `${name}_${key.toUpperCase()}`),
  ]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}
