import assert from "node:assert/strict";
import { test } from "node:test";
import { Fifo } from "./fifo.ts";

test("A fifo hands out elements in the order they came, across many compactions.", () => {
  const fifo = new Fifo<number>();
  let next = 0;
  let expected = 0;
  for (let round = 0; round < 500; round++) {
    for (let index = 0; index < 7; index++) fifo.push(next++);
    for (let index = 0; index < 6; index++) assert.equal(fifo.shift(), expected++);
  }
  assert.equal(fifo.count, next - expected);
  assert.equal(fifo.peek(), expected);
  assert.deepEqual(
    fifo.drain(),
    Array.from({ length: next - expected }, (_, index) => expected + index),
  );
  assert.equal(fifo.shift(), undefined);
  assert.equal(fifo.count, 0);
});
