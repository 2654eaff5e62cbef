import assert from "node:assert/strict";
import { test } from "node:test";
import { backOffDelayMs } from "./back-off.ts";

const options = { retries: 10, intervalMs: 100, factor: 2, delayMaxMs: 1000, jitter: 0.5 };

test("waits double up to the maximum, and chance takes up to its share away", () => {
  const waits = [1, 2, 3, 4, 5, 6].map((attempt) => backOffDelayMs(options, attempt, 0));
  assert.deepEqual(waits, [100, 200, 400, 800, 1000, 1000]);
  assert.equal(backOffDelayMs(options, 2, 0.999), 100);
  assert.equal(backOffDelayMs(options, 5000, 0.5), 750);
  assert.equal(backOffDelayMs({ ...options, intervalMs: 0 }, 5000, 0.5), 0);
});
