// Whole brokers under simulated failures, one history per seed. Other seeds, and the whole history of one:
//   npm run simulator -- --brokers --seeds 1..500
//   npm run simulator -- --brokers --seed 471 --trace
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAULTS_MIN, OPERATIONS_MIN, TICKS_MIN } from "../testing/cluster-history/history-world.ts";
import { runHistory } from "../testing/cluster-history/run-history.ts";

/** The nodes of the last one encrypt what they store. */
const SEEDS = [1, 2, 4];
/** Topics of this one have small segments, and the polls of its group's members have auto-commit. */
const ROLLING_SEED = 5;
/** Nodes of the first one lose power right behind rolls, those of the other one their newest segments. */
const ROLL_LOSS_SEEDS = [7, 53];

describe("A cluster whose nodes, disks and links fail", () => {
  for (const seed of SEEDS) {
    it(`keeps its promises to clients and goes on when all is mended (seed ${seed}).`, async () => {
      const { acknowledged, ticks, operations, faults } = await runHistory(seed);
      assert.ok(acknowledged > 0, "something was written");
      assert.ok(ticks >= TICKS_MIN && operations >= OPERATIONS_MIN && faults >= FAULTS_MIN, "it was long");
    });
  }

  for (const seed of ROLL_LOSS_SEEDS) {
    it(`keeps them where nodes lose something right behind the beginning of a segment (seed ${seed}).`, async () => {
      const { rollLosses } = await runHistory(seed);
      assert.ok(rollLosses > 0, "something was lost there");
    });
  }

  it("has the same history whenever it is played from one seed.", async () => {
    const [one, other] = [await runHistory(ROLLING_SEED), await runHistory(ROLLING_SEED)];
    assert.deepEqual(one, other);
    const { rolls, trims, autoCommits } = one;
    assert.ok(rolls > 0 && trims > 0 && autoCommits > 0, "segments rolled and went, members polled");
  });
});
