import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseDuration } from "./duration.ts";

const SECOND = 1_000_000n;
const DAY = 86_400n * SECOND;

test("durations are numbers with units that add up", () => {
  const table: readonly (readonly [string, bigint])[] = [
    ["7days", 7n * DAY],
    ["7 days", 7n * DAY],
    ["1h 30m", 5400n * SECOND],
    ["1day 2h", DAY + 7200n * SECOND],
    ["2h30min", 9000n * SECOND],
    [" 5 s ", 5n * SECOND],
    ["250 ms", 250_000n],
    ["3us", 3n],
    ["1500ns", 1n],
    ["1w", 7n * DAY],
    ["1M", 2_630_016n * SECOND],
    ["1m", 60n * SECOND],
    ["1 year", 31_557_600n * SECOND],
    ["0s", 0n],
    ["4294967295s", 4_294_967_295n * SECOND],
  ];
  for (const [text, micros] of table) assert.equal(parseDuration(text), micros, text);
});

test("a number without unit, an unknown unit, a sign, a fraction or nothing is no duration", () => {
  for (const text of ["", "  ", "5", "1h 30", "days", "1.5h", "-1s", "1 fortnight", "1H", "1,5s", "1h,2m"]) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

test("more than 2^32-1 seconds is no duration", () => {
  assert.equal(parseDuration("4294967296s"), undefined);
  assert.equal(parseDuration("200 years"), undefined);
});

test("any text gives a duration or none, never an error", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      const micros = parseDuration(text);
      assert.ok(micros === undefined || micros >= 0n);
    }),
    { numRuns: 300 },
  );
});
