import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation, warmUp } from "./simulation.ts";

/** Seeds that once found something, among them a start that trusted what was only in memory. */
const SEEDS = [7, 22, 45, 113, 142, 8205635, 8206275, 8210490, 8222708, 8405249, 8809614];

async function traceOf(seed: number): Promise<{ readonly lines: string[]; readonly faults: number }> {
  const lines: string[] = [];
  const { operations, faults } = await new Simulation(seed, (line) => lines.push(line)).run();
  assert.ok(operations >= 200 && faults >= 20, `seed ${seed}: ${operations} operations, ${faults} faults`);
  return { lines, faults };
}

test("one seed is one run: the same events at the same time, and another seed is another run", async () => {
  await warmUp();
  const [once, again, other] = [await traceOf(3), await traceOf(3), await traceOf(4)];
  assert.ok(once.lines.length > 200);
  assert.deepEqual(again.lines, once.lines);
  assert.notDeepEqual(other.lines, once.lines);
});

test("seeds that found something once keep every promise", async () => {
  for (const seed of SEEDS) await traceOf(seed);
});
