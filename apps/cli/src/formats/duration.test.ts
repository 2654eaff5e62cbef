import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, parseDuration } from "./duration.ts";

test("a duration that has no unit, an unknown one or is too long is refused", () => {
  for (const text of ["5", "5 parsecs", "day", "", "1day x"]) assert.throws(() => parseDuration(text), text);
  assert.equal(parseDuration("4294967295s"), 4_294_967_295_000_000n);
  assert.throws(() => parseDuration("4294967296s"), /at most/);
  assert.equal(parseDuration("1500us"), 1_500n);
});

test("a duration reads back in the largest units", () => {
  assert.equal(durationText(90_061_000_000n), "1day 1h 1min 1s");
  assert.equal(durationText(172_800_000_000n), "2days");
  assert.equal(durationText(15n), "15us");
});
