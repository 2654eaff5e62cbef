import assert from "node:assert/strict";
import { test } from "node:test";
import { createSimPlatform } from "@millrace/platform/sim";
import { Deadlines } from "./deadlines.ts";

test("Each deadline that is not settled is called once, in order; settled ones never are.", async () => {
  const { clock } = createSimPlatform({ seed: 1 });
  const deadlines = new Deadlines(clock, 1000);
  const called: number[] = [];
  const add = (number: number) => deadlines.add(() => called.push(number));
  const [first, second, third, fourth] = [add(1), add(2), add(3), add(4)];
  assert.deepEqual([deadlines.settle(second), deadlines.settle(second)], [true, false]);
  await clock.run(500);
  const fifth = add(5);
  assert.equal(deadlines.settle(fourth), true, "the newest of its time");
  await clock.run(750);
  assert.deepEqual(called, [1, 3]);
  assert.deepEqual([deadlines.settle(first), deadlines.settle(third)], [false, false]);
  await clock.run(1000);
  assert.deepEqual(called, [1, 3, 5]);
  assert.equal(deadlines.settle(fifth), false);
  const sixth = add(6);
  assert.equal(deadlines.settle(sixth), true);
  await clock.run(2000);
  assert.deepEqual(called, [1, 3, 5]);
});
