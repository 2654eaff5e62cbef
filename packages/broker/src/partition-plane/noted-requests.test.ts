import assert from "node:assert/strict";
import { test } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { StorageOperation } from "@millrace/storage";
import { type QueuedOp, queuedOp } from "./partition-op.ts";
import { Repetitions } from "./repetitions.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

function stored(offset: number): QueuedOp {
  const whose = { client: 7n, request: 5n, user: 1, isNumbered: true };
  const answers = { committed: () => {}, failed: () => {} };
  const body = Uint8Array.of(offset);
  return queuedOp({ operation: StorageOperation.storeOffset, body, ...whose, ...answers });
}

test("A request that waits is noted again when another replica's of its number was cut away", () => {
  const repetitions = new Repetitions(kernel, 0, () => undefined);
  const [waiting, replicated, again] = [stored(1), stored(1), stored(1)];
  assert.equal(repetitions.joins(waiting), false);
  replicated.opNumber = 9;
  repetitions.begin(replicated);
  assert.deepEqual([waiting.isNoted, replicated.isNoted], [false, true]);
  repetitions.end(waiting);
  assert.equal(repetitions.isUnderWay(again.op), true, "who is not noted takes nobody's note away");
  repetitions.end(replicated);
  assert.equal(repetitions.isUnderWay(again.op), false);
  repetitions.begin(waiting);
  assert.equal(repetitions.joins(again), true);
  assert.deepEqual(waiting.repetitions, [again.op]);
  repetitions.end(waiting);
  assert.equal(repetitions.isUnderWay(again.op), false);
});

test("A request that does not hold the same is not noted, and ends without taking the first one's note", () => {
  const repetitions = new Repetitions(kernel, 0, () => undefined);
  const [first, other] = [stored(1), stored(2)];
  assert.deepEqual([repetitions.joins(first), repetitions.joins(other)], [false, false]);
  assert.equal(other.isNoted, false);
  repetitions.end(other);
  assert.equal(repetitions.joins(stored(1)), true);
});

test("What each of many clients has under way is known until it ends", () => {
  const repetitions = new Repetitions(kernel, 0, () => undefined);
  for (let client = 1n; client < 50n; client += 1n) {
    const queued = queuedOp({ ...stored(1).op, client });
    repetitions.joins(queued);
    assert.equal(repetitions.isUnderWay(queued.op), true);
    repetitions.end(queued);
    assert.equal(repetitions.isUnderWay(queued.op), false);
  }
});
