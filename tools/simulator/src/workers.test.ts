import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "./read-options.ts";
import { argumentsOf, partsOf } from "./workers.ts";

test("workers share a range: each seed is one worker's, and none is left out", () => {
  for (const [from, to, count] of [
    [1, 20_000, 2],
    [5, 11, 3],
    [4, 5, 8],
    [7, 7, 4],
  ] as const) {
    const parts = partsOf({ from, to }, count);
    const seeds = parts.flatMap((part) =>
      Array.from({ length: part.to - part.from + 1 }, (_, at) => part.from + at),
    );
    assert.deepEqual(
      seeds,
      Array.from({ length: to - from + 1 }, (_, at) => from + at),
    );
    assert.equal(parts.length, Math.min(count, seeds.length));
    const lengths = parts.map((part) => part.to - part.from + 1);
    assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 1, `${lengths}`);
  }
});

test("a worker is told the same as the whole range but its seeds, and has no workers itself", () => {
  const args = ["--brokers", "--seeds", "1..20", "--minutes", "5", "--workers", "2"];
  const whole = readOptions(args);
  assert.deepEqual(readOptions(argumentsOf(args, { from: 11, to: 20 })), {
    ...{ ...whole, from: 11, to: 20, workers: 1 },
  });
  const one = readOptions(argumentsOf(["--seed", "7", "--workers=4"], { from: 7, to: 7 }));
  assert.deepEqual([one?.from, one?.to, one?.workers], [7, 7, 1]);
});
