import assert from "node:assert/strict";
import { test } from "node:test";
import { MUTATIONS } from "./mutations.ts";
import { Violation } from "./oracle/violation.ts";
import { RunCounts } from "./run-counts.ts";
import type { PlanOptions } from "./seed-plan.ts";
import { Simulation, type SimulationReport } from "./simulation.ts";

/** A planted bug is found within so many; each was with a handful. */
const SEARCHED_SEEDS = 200;
const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

function traceOf(seed: number, options: PlanOptions = {}): { lines: string[]; report: SimulationReport } {
  const lines: string[] = [];
  const report = new Simulation(seed, options, (line) => lines.push(line)).run();
  return { lines, report };
}

/** The first seed that is not clean with these options. */
function firstFound(options: PlanOptions): number | undefined {
  for (let seed = 1; seed <= SEARCHED_SEEDS; seed += 1) {
    try {
      new Simulation(seed, options).run();
    } catch (error) {
      assert.ok(error instanceof Violation, String(error));
      return seed;
    }
  }
  return undefined;
}

test("one seed is one run: the same events at the same time, and another seed is another run", () => {
  const [once, again, other] = [traceOf(3), traceOf(3), traceOf(4)];
  assert.ok(once.lines.length > 1000);
  assert.deepEqual(again.lines, once.lines);
  assert.notDeepEqual(other.lines, once.lines);
  assert.deepEqual(new Simulation(3).run(), once.report, "a run without a trace is the same");
});

test("seeds keep every promise, and together go every rare way", () => {
  const counts = new RunCounts();
  for (const seed of SEEDS) {
    const report = new Simulation(seed).run();
    assert.ok(report.ticks >= 10_000 && report.operations >= 200 && report.faults >= 20, `seed ${seed}`);
    counts.add(report.counts);
  }
  for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, name);
});

for (const mutation of MUTATIONS) {
  test(`the planted bug ${mutation} is found, with a seed that is clean without it`, () => {
    const seed = firstFound({ mutation });
    assert.ok(seed !== undefined, `not with seeds 1 to ${SEARCHED_SEEDS}`);
    new Simulation(seed).run();
  });
}

test("what clients and logs show is enough to find a commit without a quorum", () => {
  assert.ok(firstFound({ mutation: "commitWithoutQuorum", isOutcomeOnly: true }) !== undefined);
});
