import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { LatencyHistogram } from "./latency-histogram.ts";

const PARTS = [0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];
const ERROR_MAX = 1 / 128;

/** The value of `part` of all values by its definition, from all of them. */
function exactQuantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(1, Math.ceil(part * sorted.length)) - 1] as number;
}

function assertNear(actual: number, expected: number, what: string): void {
  const off = Math.abs(actual - expected);
  assert.ok(off <= expected * ERROR_MAX, `${what}: ${actual} is not ${expected}`);
}

test("quantiles of any values are within 1/128 of the exact ones", () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const random = new SeededRandom(seed);
    const octaves = 4 + random.fraction() * 38;
    const count = 1 + Math.floor(random.fraction() * 3_000);
    const values = Array.from({ length: count }, () => Math.floor(2 ** (random.fraction() * octaves)));
    const histogram = new LatencyHistogram();
    for (const value of values) histogram.record(value);
    const sorted = values.toSorted((a, b) => a - b);
    for (const part of PARTS) {
      assertNear(histogram.quantile(part), exactQuantile(sorted, part), `seed ${seed}, part ${part}`);
    }
    assert.equal(histogram.count, count);
    assert.equal(histogram.min, sorted[0]);
    assert.equal(histogram.max, sorted.at(-1));
    assertNear(histogram.average, values.reduce((sum, value) => sum + value, 0) / count, `seed ${seed}`);
  }
});

test("values at the edge of two buckets are known to 1/128 too", () => {
  for (let exponent = 0; exponent < 44; exponent += 1) {
    for (const value of [2 ** exponent - 1, 2 ** exponent, 2 ** exponent + 1]) {
      const histogram = new LatencyHistogram();
      histogram.record(value);
      histogram.record(value);
      assertNear(histogram.quantile(0.5), value, String(value));
    }
  }
});

test("the sum of two histograms is the histogram of all values", () => {
  const random = new SeededRandom(7);
  const [left, right, both] = [new LatencyHistogram(), new LatencyHistogram(), new LatencyHistogram()];
  for (let index = 0; index < 1_000; index += 1) {
    const value = Math.floor(random.fraction() * 1e9);
    (index % 3 === 0 ? left : right).record(value);
    both.record(value);
  }
  left.add(right);
  for (const part of PARTS) assert.equal(left.quantile(part), both.quantile(part));
  assert.deepEqual([left.count, left.min, left.max], [both.count, both.min, both.max]);
});

test("without values everything is 0, and what is too long still shows as the most", () => {
  const histogram = new LatencyHistogram();
  assert.deepEqual([histogram.quantile(0.5), histogram.average, histogram.min, histogram.max], [0, 0, 0, 0]);
  histogram.record(-5);
  histogram.record(2 ** 50);
  assert.equal(histogram.min, 0);
  assert.equal(histogram.max, 2 ** 50);
  assert.equal(histogram.quantile(1), 2 ** 50);
});
