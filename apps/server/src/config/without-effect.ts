import { WITHOUT_EFFECT } from "./without-effect.table.ts";

/** Why a setting changes nothing in this release, or undefined when it is honoured. */
export function reasonWithoutEffect(key: string): string | undefined {
  return WITHOUT_EFFECT.find(([path]) => key === path || key.startsWith(`${path}.`))?.[1];
}

/**
 * One warning that names every given setting that changes nothing, or none: a file for the reference names
 * dozens of them, and nobody should believe that they work.
 *
 * @param keys  dotted names that the file or the environment sets
 */
export function warningsWithoutEffect(keys: readonly string[]): readonly string[] {
  const idle = keys.flatMap((key) => {
    const reason = reasonWithoutEffect(key);
    return reason === undefined ? [] : [`${key} (${reason})`];
  });
  return idle.length === 0 ? [] : [`Settings without effect in this release: ${idle.join(", ")}.`];
}

/** Dotted names of every value below the tables of a file. */
export function givenKeys(tree: Readonly<Record<string, unknown>>, above = ""): readonly string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
    const name = `${above}${key}`;
    return isTable && !(value instanceof Date)
      ? givenKeys(value as Record<string, unknown>, `${name}.`)
      : [name];
  });
}
