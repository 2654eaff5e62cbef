import { InvalidArgumentError } from "commander";
import { parseU64 } from "./whole-number.ts";

/**
 * Microseconds since 1970 from digits (microseconds already) or from an ISO date such as
 * `2026-09-21T10:00:00Z`.
 * @throws InvalidArgumentError when it is neither
 */
export function parseTimestamp(text: string): bigint {
  if (/^\d+$/.test(text)) return parseU64(text);
  const millis = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(millis) && millis >= 0) return BigInt(millis) * 1_000n;
  throw new InvalidArgumentError(
    "It must be microseconds since 1970 or a date such as 2026-09-21T10:00:00Z.",
  );
}

/**
 * A time as people read it: date, time to the microsecond, UTC. A time beyond the calendar stays a number.
 */
export function timestampText(micros: bigint | number): string {
  const value = BigInt(micros);
  const date = new Date(Number(value / 1_000n));
  if (Number.isNaN(date.getTime())) return `${value}us`;
  const [day, time = ""] = date.toISOString().split("T");
  const rest = String(value % 1_000_000n).padStart(6, "0");
  return `${day} ${time.slice(0, 8)}.${rest} UTC`;
}
