import assert from "node:assert/strict";
import { test } from "node:test";
import { GOALS, isReached, verdict } from "./goals.ts";

test("a ratio below what it must reach is a miss, and the verdict says so", () => {
  const { mustReach } = GOALS.produce;
  assert.equal(isReached(mustReach, GOALS.produce), true);
  assert.equal(isReached(mustReach - 0.001, GOALS.produce), false);
  assert.match(verdict(mustReach - 0.001, GOALS.produce), /must reach 0\.25, aim 0\.5: MISSED/);
  assert.match(verdict(mustReach, GOALS.produce), /: reached$/);
});

test("a figure that nothing was measured for is a miss", () => {
  assert.equal(isReached(Number.NaN, GOALS.kernel), false);
});

test("a figure that only has an aim is never a miss", () => {
  assert.equal(isReached(0, GOALS.sdkProducer), true);
  assert.equal(verdict(0, GOALS.sdkProducer), "aim 0.2");
});
