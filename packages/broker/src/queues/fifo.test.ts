import assert from "node:assert/strict";
import { test } from "node:test";
import { Fifo } from "./fifo.ts";

test("A fifo hands out elements in the order they came, however often its slots were used.", () => {
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

test("A fifo that held a burst goes on as before.", () => {
  const fifo = new Fifo<number>();
  for (let round = 0; round < 3; round++) {
    fifo.push(-1);
    assert.equal(fifo.shift(), -1);
    for (let index = 0; index < 5000; index++) fifo.push(index);
    assert.equal(fifo.count, 5000);
    for (let index = 0; index < 5000; index++) assert.equal(fifo.shift(), index);
    assert.equal(fifo.peek(), undefined);
    assert.deepEqual(fifo.drain(), []);
  }
});
