import assert from "node:assert/strict";
import { test } from "node:test";
import { Chance } from "./chance.ts";
import { EventQueue } from "./event-queue.ts";

test("events happen in order of time, equal times in the order they were scheduled, and none too early", () => {
  const queue = new EventQueue();
  const chance = new Chance(7);
  const due = Array.from({ length: 500 }, (_, order) => ({ at: chance.below(40), order }));
  const seen: { at: number; order: number }[] = [];
  for (const event of due) {
    queue.at(event.at, () => {
      assert.equal(queue.nowMicros, event.at);
      seen.push(event);
    });
  }
  queue.runUntil(19);
  assert.equal(queue.nowMicros, 19);
  assert.ok(seen.every(({ at }) => at <= 19));
  queue.runUntil(40);
  assert.deepEqual(
    seen,
    due.sort((one, other) => one.at - other.at || one.order - other.order),
  );
});

test("what an event schedules for now happens in the same run, behind what is due already", () => {
  const queue = new EventQueue();
  const seen: string[] = [];
  queue.after(5, () => {
    seen.push("first");
    queue.after(0, () => seen.push("third"));
    queue.at(1, () => seen.push("fourth"));
  });
  queue.after(5, () => seen.push("second"));
  queue.runUntil(5);
  assert.deepEqual(seen, ["first", "second", "third", "fourth"]);
});

test("a weighted choice never takes what weighs nothing, and takes the rest by weight", () => {
  const chance = new Chance(1);
  const counts = { never: 0, often: 0, seldom: 0 };
  for (let turn = 0; turn < 4000; turn += 1) counts[chance.weighted({ never: 0, often: 3, seldom: 1 })] += 1;
  assert.equal(counts.never, 0);
  assert.ok(counts.often > 2.5 * counts.seldom && counts.often < 3.5 * counts.seldom);
});
