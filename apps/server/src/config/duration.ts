/** Milliseconds of one unit. Months and years as humantime counts them: 30.44 and 365.25 days. */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  nsec: 1e-6,
  us: 1e-3,
  usec: 1e-3,
  ms: 1,
  msec: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hrs: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
  month: 2_630_016_000,
  months: 2_630_016_000,
  y: 31_557_600_000,
  year: 31_557_600_000,
  years: 31_557_600_000,
};

const ZERO_WORDS = new Set(["0", "none", "disabled", "unlimited"]);
const WHOLE = /^(?:\s*\d+\s*[a-z]+)+\s*$/;
const PART = /(\d+)\s*([a-z]+)/g;

/**
 * Milliseconds of a text such as `10 s`, `1 h 30 m`, `250ms`; `0`, `none`, `disabled` and `unlimited` are 0.
 *
 * Undefined when the text is no duration: a number without a unit is none, except 0.
 */
export function parseDurationMs(text: string): number | undefined {
  const lower = text.trim().toLowerCase();
  if (ZERO_WORDS.has(lower)) return 0;
  if (!WHOLE.test(lower)) return undefined;
  let total = 0;
  for (const [, count, unit] of lower.matchAll(PART)) {
    const unitMs = UNIT_MS[unit ?? ""];
    if (unitMs === undefined) return undefined;
    total += Number(count) * unitMs;
  }
  return total;
}
