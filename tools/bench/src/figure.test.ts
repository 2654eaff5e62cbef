import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cost, compare, WARM_UP_ROUNDS } from "./figure.ts";
import { GOALS } from "./goals.ts";

function costsOf(values: readonly number[]): () => Promise<Cost> {
  let at = 0;
  return async () => {
    const value = values[at++] ?? Number.NaN;
    return { cpuNanosPerMessage: value, wallMessagesPerSecond: value, megabytesPerSecond: value };
  };
}

test("warm-up rounds do not count, and the medians of the others make the ratio", async () => {
  const warmUp = new Array(WARM_UP_ROUNDS).fill(1e9);
  const names = { name: "one", limitName: "limit", goal: GOALS.produce, rounds: 3 };
  const figure = await compare(names, costsOf([...warmUp, 10, 500, 20]), costsOf([...warmUp, 80, 1, 100]));
  assert.equal(figure.limit.cpuNanosPerMessage, 20);
  assert.equal(figure.ours.cpuNanosPerMessage, 80);
  assert.equal(figure.ratio, 0.25);
});
