import assert from "node:assert/strict";
import { test } from "node:test";
import { Pipeline } from "./pipeline.ts";
import type { Prepare } from "./prepare.ts";

/** A prepare of which a pipeline looks at its number alone. */
const prepareOf = (op: number) => ({ op }) as Prepare;

test("a pipeline that grows while ops come and go finds each of them under its number and no other", () => {
  const pipeline = new Pipeline(1000, 7);
  let [first, last] = [8, 7];
  for (let round = 0; pipeline.free > 0; round += 1) {
    for (let more = 0; more < 5 && pipeline.free > 0; more += 1) pipeline.push(prepareOf(++last));
    if (round % 2 === 0) {
      pipeline.releaseFirst();
      first += 1;
    }
    for (let op = first; op <= last; op += 1) assert.equal(pipeline.get(op)?.prepare.op, op);
    assert.equal(pipeline.get(first - 1) ?? pipeline.get(last + 1), undefined);
    assert.equal(pipeline.count, last - first + 1);
  }
  assert.equal(pipeline.count, 1000);
  assert.throws(() => pipeline.push(prepareOf(last + 1)), /room/);
  pipeline.cutTo(last - 900);
  assert.equal(pipeline.get(last - 900)?.prepare.op, last - 900);
  assert.equal(pipeline.get(last - 899), undefined);
  for (let op = last - 899; op <= last; op += 1) pipeline.push(prepareOf(op));
  const seen: number[] = [];
  pipeline.forEach(({ prepare }) => {
    seen.push(prepare.op);
  });
  assert.deepEqual([seen.length, seen[0], seen.at(-1)], [1000, first, last]);
});
