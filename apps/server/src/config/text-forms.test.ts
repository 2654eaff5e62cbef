import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBytes, parseMilliseconds } from "./text-forms.ts";

test("Durations are numbers with units that add up; the words for nothing are 0.", () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ["10 s", 10_000],
    ["250ms", 250],
    ["1 h 30 m", 5_400_000],
    ["1day 2h", 93_600_000],
    ["7 days", 604_800_000],
    ["0", 0],
    ["none", 0],
    ["Unlimited", 0],
    ["disabled", 0],
    ["10", undefined],
    ["s", undefined],
    ["10 parsecs", undefined],
    ["1 constructor", undefined],
    ["1500 us", 1.5],
    ["", undefined],
    ["-1 s", undefined],
  ];
  for (const [text, ms] of cases) assert.equal(parseMilliseconds(text), ms, text);
});

test("Sizes are bytes or numbers with a unit, decimal and binary.", () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ["4096", 4096],
    ["64 MiB", 67_108_864],
    ["15GB", 15_000_000_000],
    ["1.5 KiB", 1536],
    ["1200 B", 1200],
    ["unlimited", 0],
    ["none", 0],
    ["10 bananas", undefined],
    ["1 constructor", undefined],
    ["", undefined],
    ["-1", undefined],
    ["99999999 TiB", undefined],
  ];
  for (const [text, length] of cases) assert.equal(parseBytes(text), length, text);
});
