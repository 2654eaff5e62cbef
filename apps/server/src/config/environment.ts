import { configSchema } from "./schema.ts";
import { schemaLeaves } from "./schema-leaves.ts";

/** Prefixes of environment variables, the stronger first. */
const PREFIXES = ["MILLRACE_", "IGGY_"] as const;

/** Environment variables as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of `NAME` under the first prefix that has one: `MILLRACE_NAME`, else `IGGY_NAME`. */
export function prefixedVariable(environment: Environment, name: string): string | undefined {
  for (const prefix of PREFIXES) {
    const value = environment[`${prefix}${name}`];
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Every configuration value that the environment sets, with its path; the name is the path in capitals with
 * `_`.
 */
export function environmentOverrides(
  environment: Environment,
): readonly { readonly path: readonly string[]; readonly value: string }[] {
  return schemaLeaves(configSchema).flatMap((path) => {
    const value = prefixedVariable(environment, path.join("_").toUpperCase());
    return value === undefined ? [] : [{ path, value }];
  });
}
