import { stringify } from "smol-toml";
import type { Config } from "./schema.ts";

/** Keys that hold secrets; they are left out of every copy of the configuration. */
const SECRET_KEYS = new Set([
  "encoding_secret",
  "decoding_secret",
  "key",
  "shared_secret",
  "previous_shared_secret",
]);

/**
 * The configuration in effect as TOML, without secrets and with the addresses really bound.
 *
 * Durations are milliseconds and sizes bytes: the file is for reading, not for loading.
 */
export function effectiveConfig(
  config: Config,
  bound: { readonly dataPath: string; readonly addresses: Readonly<Record<string, string>> },
): string {
  const copy = withoutSecrets({
    ...config,
    path: bound.dataPath,
    ...Object.fromEntries(
      Object.entries(bound.addresses).map(([name, address]) => [
        name,
        { ...(config[name as keyof Config] as object), address },
      ]),
    ),
  });
  return `# Written at start. Durations are milliseconds, sizes are bytes. Secrets are left out.\n${stringify(copy)}\n`;
}

function withoutSecrets(tree: object): Record<string, unknown> {
  const kept = Object.entries(tree).filter(([key, value]) => value !== undefined && !SECRET_KEYS.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, cleaned(value)]));
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  return typeof value === "object" && value !== null ? withoutSecrets(value) : value;
}
