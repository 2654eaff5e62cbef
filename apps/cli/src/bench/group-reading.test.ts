import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupProgress } from "./group-reading.ts";

const PLAN = { place: 0, name: "g", members: 2, messages: 6, warmUpMessages: 2 };
const message = (partitionId: number, offset: number) => ({ partitionId, offset: BigInt(offset) });

test("a group is done when each of its messages came, and then says so", () => {
  const progress = new GroupProgress(PLAN);
  let told = 0;
  progress.onDone(() => {
    told += 1;
  });
  const counted = [message(0, 0), message(1, 0), message(0, 1), message(0, 2), message(1, 1)].map(
    (one) => progress.take(one).counts,
  );
  assert.deepEqual(counted, [false, false, true, true, true], "the first two are the warm-up");
  assert.deepEqual([progress.isDone, told], [false, 0]);
  assert.equal(progress.take(message(1, 2)).counts, true);
  assert.deepEqual([progress.isDone, told], [true, 1]);
});

test("messages that come again after a partition changed hands do not count twice", () => {
  const progress = new GroupProgress(PLAN);
  for (const offset of [0, 1, 2]) progress.take(message(0, offset));
  for (const offset of [1, 2]) assert.equal(progress.take(message(0, offset)).counts, false);
  assert.equal(progress.repeated, 2);
  for (const offset of [3, 4]) assert.equal(progress.take(message(0, offset)).counts, true);
  assert.equal(progress.isDone, false);
});

test("a message that never came is an error and not a shorter run", () => {
  const progress = new GroupProgress(PLAN);
  progress.take(message(3, 0));
  assert.throws(() => progress.take(message(3, 2)), /never got offsets 1 to 1 of partition 3/);
});
