import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createNodeClock } from "./node-clock.ts";

/** What two clocks of one machine may differ by: reading one after the other, and their own correction. */
const TOLERANCE_MICROS = 200;

test("wall time is never before what `Date` said just before, to the microsecond", async () => {
  for (let clocks = 0; clocks < 5; clocks += 1) {
    const clock = createNodeClock();
    for (let reads = 0; reads < 2_000; reads += 1) {
      const said = Date.now() * 1000;
      const read = clock.wallMicros();
      assert.ok(read >= said - TOLERANCE_MICROS, `${said - read} micros behind`);
    }
    await sleep(1.3);
  }
});

test("wall time moves on between milliseconds", () => {
  const clock = createNodeClock();
  const fractions = new Set<number>();
  for (let reads = 0; reads < 1_000; reads += 1) fractions.add(clock.wallMicros() % 1000);
  assert.ok(fractions.size > 10, `${fractions.size} different microseconds`);
});

test("a timer beyond what Node can wait for does not fire at once, and can be cancelled", async () => {
  const clock = createNodeClock();
  const fired: number[] = [];
  const timers = [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY].map((delayMs) =>
    clock.setTimer(delayMs, () => fired.push(delayMs)),
  );
  clock.setTimer(5, () => fired.push(5));
  await sleep(40);
  for (const timer of timers) timer.cancel();
  assert.deepEqual(fired, [5]);
});
