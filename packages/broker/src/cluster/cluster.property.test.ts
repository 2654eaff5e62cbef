// Whole brokers under simulated failures. One history per seed; a range of seeds is run so:
//   MILLRACE_CLUSTER_SEEDS=1..500 node ../../tools/test.mjs cluster.property
// and MILLRACE_CLUSTER_TRACE=1 shows the whole history of a seed that breaks a promise.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAULTS_MIN, OPERATIONS_MIN, TICKS_MIN } from "../testing/cluster-history/history-world.ts";
import { runHistory } from "../testing/cluster-history/run-history.ts";

/** First and last seed: few, unless a range is asked for. */
const [firstSeed = 1, lastSeed = firstSeed] = (process.env["MILLRACE_CLUSTER_SEEDS"] ?? "1..2")
  .split("..")
  .map(Number);

describe("A cluster whose nodes, disks and links fail", () => {
  for (let seed = firstSeed; seed <= lastSeed; seed += 1) {
    it(`keeps its promises to clients and goes on when all is mended (seed ${seed}).`, async () => {
      const { acknowledged, ticks, operations, faults } = await runHistory(seed);
      assert.ok(acknowledged > 0, "something was written");
      assert.ok(ticks >= TICKS_MIN && operations >= OPERATIONS_MIN && faults >= FAULTS_MIN, "it was long");
    });
  }

  it("has the same history whenever it is played from one seed.", async () => {
    const [one, other] = [await runHistory(firstSeed), await runHistory(firstSeed)];
    assert.deepEqual(one.lines, other.lines);
    assert.equal(one.simulatedMs, other.simulatedMs);
  });
});
