import assert from "node:assert/strict";
import { test } from "node:test";
import { StoredOffsets } from "./history-stored.ts";

/** Which of these may be stored. */
const possibleOf = (stored: StoredOffsets) => [undefined, 2, 3, 5, 7].filter((one) => stored.mayBe(one));

test("the last acknowledged offset is stored, or one that was tried since", () => {
  const stored = new StoredOffsets();
  assert.deepEqual(possibleOf(stored), [undefined]);
  stored.storing(5);
  assert.deepEqual(possibleOf(stored), [undefined, 5]);
  stored.stored(5);
  stored.storing(3);
  assert.deepEqual(possibleOf(stored), [3, 5]);
});

test("a poll moves the offset forward only", () => {
  const stored = new StoredOffsets();
  stored.moved(undefined);
  assert.deepEqual(possibleOf(stored), [undefined]);
  stored.moved(3);
  assert.deepEqual(possibleOf(stored), [3]);
  stored.moved(2);
  assert.deepEqual(possibleOf(stored), [3]);
});

test("a poll whose answer was lost may have moved it anywhere, but not back", () => {
  const stored = new StoredOffsets();
  stored.stored(3);
  stored.moving();
  assert.deepEqual(possibleOf(stored), [3, 5, 7]);
  stored.moved(5);
  assert.deepEqual(possibleOf(stored), [5, 7]);
  stored.stored(2);
  assert.deepEqual(possibleOf(stored), [2, 3, 5, 7]);
});

test("a consumer keeps what it has not passed of what was sent since it has an offset", () => {
  const stored = new StoredOffsets();
  stored.storing(3);
  assert.equal(stored.keeps(9, 100), false);
  stored.stored(3, 50);
  assert.deepEqual([3, 4].map((offset) => stored.keeps(offset, 50)), [false, true]); // biome-ignore format: one line
  assert.equal(stored.keeps(4, 49), false);
  stored.moved(5);
  assert.equal(stored.keeps(5, 100), false);
  stored.stored(2, 60);
  assert.deepEqual([5, 6].map((offset) => stored.keeps(offset, 50)), [false, true]); // biome-ignore format: one line
  stored.moving();
  assert.equal(stored.keeps(6, 100), false);
});
