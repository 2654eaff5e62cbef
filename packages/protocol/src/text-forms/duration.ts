/** Nanoseconds of each unit. A month is 30.44 days and a year 365.25 days, as in the humantime text form. */
const UNIT_NANOS: ReadonlyMap<string, bigint> = new Map(
  (
    [
      [1n, "nanos nsec ns"],
      [1_000n, "usec us µs"],
      [1_000_000n, "millis msec ms"],
      [1_000_000_000n, "seconds second secs sec s"],
      [60_000_000_000n, "minutes minute mins min m"],
      [3_600_000_000_000n, "hours hour hrs hr h"],
      [86_400_000_000_000n, "days day d"],
      [604_800_000_000_000n, "weeks week wks wk w"],
      [2_630_016_000_000_000n, "months month M"],
      [31_557_600_000_000_000n, "years year yrs yr y"],
    ] as const
  ).flatMap(([nanos, names]) => names.split(" ").map((name) => [name, nanos] as const)),
);
const NANOS_PER_MICRO = 1000n;
const NANOS_PER_SECOND = 1_000_000_000n;
/** The reference keeps the seconds of a text form in 32 bits. */
const SECONDS_MAX = 4_294_967_295n;
/** One number with its unit. `M` is months and `m` minutes, so case matters. */
const PART = /\s*(\d+)\s*([a-zA-Zµ]+)\s*/y;

/**
 * Microseconds of a text such as `7days`, `1h 30m`, `1day 2h`, `250 ms`; undefined when it is none.
 *
 * Every number needs a unit; parts add up; what is below a microsecond is cut. At most 2^32-1 whole seconds.
 */
export function parseDuration(text: string): bigint | undefined {
  if (text.trim() === "") return undefined;
  let nanos = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const match = PART.exec(text);
    const unit = match === null ? undefined : UNIT_NANOS.get(match[2] ?? "");
    if (match === null || unit === undefined) return undefined;
    nanos += BigInt(match[1] ?? "") * unit;
  }
  return nanos / NANOS_PER_SECOND <= SECONDS_MAX ? nanos / NANOS_PER_MICRO : undefined;
}
