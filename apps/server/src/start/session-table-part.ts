import type { Config } from "../config/schema.ts";

/** Sessions that clients of one kind may have at once: a part of the table of all, at least one. */
export function sessionsOf(config: Config, part: number): number {
  return Math.max(1, Math.floor(config.metadata.clients_table_max * part));
}
