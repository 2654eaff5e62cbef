import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cutOffset,
  dueSegments,
  holdersOf,
  releasedSegments,
  segmentsBelow,
  sumOf,
} from "./retention-plan.ts";

/** Three segments of ten messages, with a hole between the second and the third. */
const SEALED = [
  { firstOffset: 0, lastOffset: 9, length: 100, lastTimestamp: 1000 },
  { firstOffset: 10, lastOffset: 19, length: 200, lastTimestamp: 2000 },
  { firstOffset: 50, lastOffset: 59, length: 300, lastTimestamp: 3000 },
];
const policy = (expiryMicros: number | undefined, sealedLengthMax: number | undefined) => ({
  expiryMicros,
  sealedLengthMax,
  isBudgetRaised: false,
});
const stored = (id: number, offset: number, consumerKind: 1 | 2 = 1) => ({ consumerKind, id, offset });

test("A segment expires with its newest message, to the microsecond, and the first that has not ends the run.", () => {
  const expired = (now: number, sealed = SEALED) => dueSegments(sealed, policy(500, undefined), now).expired;
  assert.deepEqual(
    [1499, 1500, 2499, 2500, 3500].map((now) => expired(now)),
    [0, 1, 1, 2, 3],
  );
  const older = SEALED.map((segment, at) => ({ ...segment, lastTimestamp: at === 1 ? 9000 : 1000 }));
  assert.equal(expired(2000, older), 1, "an old segment behind a young one stays");
  assert.deepEqual(dueSegments(SEALED, policy(undefined, undefined), 1e15), { expired: 0, overSize: 0 });
});

test("For size the oldest go until the sealed bytes that stay fit the budget.", () => {
  const overSize = (budget: number) => dueSegments(SEALED, policy(undefined, budget), 0).overSize;
  assert.deepEqual([600, 599, 500, 499, 300, 299, 0].map(overSize), [0, 1, 1, 2, 2, 3, 3]);
  assert.deepEqual(dueSegments([], policy(1, 0), 1e9), { expired: 0, overSize: 0 });
});

test("An offset releases the segments whose last message it has reached; the lowest of all offsets counts.", () => {
  assert.deepEqual(
    [0, 8, 9, 18, 19, 58, 59].map((offset) => segmentsBelow(SEALED, offset)),
    [0, 0, 1, 1, 2, 2, 3],
  );
  assert.equal(releasedSegments({ sealed: SEALED, offsets: [] }), 3);
  assert.equal(releasedSegments({ sealed: SEALED, offsets: [stored(1, 59), stored(2, 12, 2)] }), 1);
});

test("Holders are those who keep anything, the lowest offset first, groups and consumers apart.", () => {
  const offsets = [stored(1, 59), stored(3, 12), stored(2, 12, 2), stored(2, 58)];
  assert.deepEqual(
    holdersOf({ sealed: SEALED, offsets }).map(({ consumerKind, id }) => [consumerKind, id]),
    [
      [1, 3],
      [2, 2],
      [1, 2],
    ],
  );
  assert.deepEqual(holdersOf({ sealed: [], offsets }), []);
});

test("Sums count messages, not offsets, and what goes ends behind its last message.", () => {
  assert.deepEqual(sumOf(SEALED, 0, 3), { segmentsCount: 3, messagesCount: 30, byteLength: 600 });
  assert.deepEqual(sumOf(SEALED, 1, 2), { segmentsCount: 1, messagesCount: 10, byteLength: 200 });
  assert.equal(sumOf(SEALED, 2, 1).segmentsCount, 0);
  assert.deepEqual(
    [0, 1, 2, 3].map((count) => cutOffset(SEALED, count)),
    [0, 10, 20, 60],
  );
});
