import { InvalidArgumentError } from "commander";

const MICROS_PER_SECOND = 1_000_000n;

/**
 * Unit names of humantime texts and their length in nanoseconds (a month is 30.44 days, a year 365.25 days).
 */
const UNIT_NANOS: readonly (readonly [names: string, nanos: bigint])[] = [
  ["nanos nsec ns", 1n],
  ["usec us µs", 1_000n],
  ["millis msec ms", 1_000_000n],
  ["seconds second secs sec s", 1_000_000_000n],
  ["minutes minute mins min m", 60_000_000_000n],
  ["hours hour hrs hr h", 3_600_000_000_000n],
  ["days day d", 86_400_000_000_000n],
  ["weeks week wks wk w", 604_800_000_000_000n],
  ["months month M", 2_630_016_000_000_000n],
  ["years year yrs yr y", 31_557_600_000_000_000n],
];

const NANOS_BY_NAME = new Map(
  UNIT_NANOS.flatMap(([names, nanos]) => names.split(" ").map((name) => [name, nanos] as const)),
);

/** Longest expiry that has a text form: 2^32-1 seconds, about 136 years. */
const DURATION_MICROS_MAX = 0xffff_ffffn * MICROS_PER_SECOND;

/**
 * Microseconds of a duration in words, such as `1day 1hour 1min`; the parts are summed.
 * @throws InvalidArgumentError for an unknown unit, a missing one, or more than 2^32-1 seconds
 */
export function parseDuration(text: string): bigint {
  const compact = text.replace(/\s+/g, "");
  if (!/^(\d+[A-Za-zµ]+)+$/.test(compact)) throw notADuration(text);
  let nanos = 0n;
  for (const [, count, unit] of compact.matchAll(/(\d+)([A-Za-zµ]+)/g)) {
    const unitNanos = NANOS_BY_NAME.get(unit ?? "");
    if (unitNanos === undefined) throw notADuration(text);
    nanos += BigInt(count ?? 0) * unitNanos;
  }
  const micros = nanos / 1_000n;
  if (micros > DURATION_MICROS_MAX)
    throw new InvalidArgumentError("A duration can be at most 4294967295 seconds.");
  return micros;
}

function notADuration(text: string): InvalidArgumentError {
  return new InvalidArgumentError(`"${text}" is not a duration; write it as 7days, 1day 12h or 30min 15s.`);
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
