import * as z from "zod";
import { unbuiltSwitches } from "./check-config.ts";
import { REMOVED_KEYS } from "./removed-keys.ts";
import { type Config, configSchema } from "./schema.ts";
import { schemaAt } from "./schema-leaves.ts";
import { OURS, SECTION_15 } from "./section-15.table.ts";
import { reasonWithoutEffect } from "./without-effect.ts";

/** Default of a setting as one would write it in the file; "not set" for those that have none. */
export function defaultText(key: string): string {
  const schema = schemaAt(configSchema, key.split("."));
  return schema instanceof z.ZodPrefault ? JSON.stringify(schema.def.defaultValue) : "not set";
}

/** What becomes of a setting here, in a few words. */
export function disposition(key: string): string {
  const reason = reasonWithoutEffect(key);
  if (reason !== undefined) return `no effect: ${reason}`;
  const isRefused = unbuiltSwitches(configSchema.parse({}) as Config).some(([name]) => name === key);
  return isRefused ? "`true` refuses the start" : "honoured";
}

/** The tables of `docs/configuration.md`: every setting, and every key of older releases. */
export function settingsTables(): string {
  const settings = SECTION_15.map(([key, reference]) => {
    const there = reference === OURS ? "-" : code(reference);
    return `| \`${key}\` | ${code(defaultText(key))} | ${there} | ${disposition(key)} |`;
  });
  const removed = REMOVED_KEYS.map(({ path, instead }) => `| \`${path.join(".")}\` | ${instead} |`);
  return [
    "| Setting | Default | Default of the reference | Here |",
    "|---|---|---|---|",
    ...settings,
    "",
    "| Key that refuses the start | What replaces it |",
    "|---|---|",
    ...removed,
    "",
  ].join("\n");
}

function code(text: string): string {
  return text === "not set" ? text : `\`${text}\``;
}
