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
  bound: { readonly tcp: string; readonly http?: string | undefined; readonly dataPath: string },
): string {
  const copy = withoutSecrets({
    ...config,
    path: bound.dataPath,
    tcp: { ...config.tcp, address: bound.tcp },
    http: { ...config.http, address: bound.http ?? config.http.address },
  });
  return `# Written at start. Durations are milliseconds, sizes are bytes. Secrets are left out.\n${stringify(copy)}\n`;
}

function withoutSecrets(tree: object): Record<string, unknown> {
  const kept = Object.entries(tree).filter(([key, value]) => value !== undefined && !SECRET_KEYS.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      typeof value === "object" && value !== null && !Array.isArray(value) ? withoutSecrets(value) : value,
    ]),
  );
}
