import { parseDuration as microsOf } from "@millrace/protocol";
import { InvalidArgumentError } from "commander";

const MICROS_PER_SECOND = 1_000_000n;

/**
 * Microseconds of a duration in words, such as `1day 1hour 1min`; the parts are summed.
 * @throws InvalidArgumentError for an unknown unit, a missing one, or more than 2^32-1 seconds
 */
export function parseDuration(text: string): bigint {
  const micros = microsOf(text);
  if (micros !== undefined) return micros;
  throw new InvalidArgumentError(
    `"${text}" is not a duration; write it as 7days, 1day 12h or 30min 15s, at most 4294967295 seconds.`,
  );
}

/** Microseconds as the largest units that fit, such as `1day 2h 30min`. */
export function durationText(micros: bigint): string {
  const units = [
    ["day", 86_400n],
    ["h", 3_600n],
    ["min", 60n],
    ["s", 1n],
  ] as const;
  let seconds = micros / MICROS_PER_SECOND;
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = seconds / length;
    if (count > 0n) parts.push(`${count}${name === "day" && count > 1n ? "days" : name}`);
    seconds %= length;
  }
  return parts.length === 0 ? `${micros}us` : parts.join(" ");
}
