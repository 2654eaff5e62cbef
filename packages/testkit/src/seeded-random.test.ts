import assert from "node:assert/strict";
import { test } from "node:test";
import { capturedFrames, fromHex, goldenCase, goldenCases, SeededRandom, toHex } from "./index.ts";

test("the same seed gives the same numbers and another seed others", () => {
  const draw = (seed: number) => toHex(new SeededRandom(seed).bytes(32));
  assert.equal(draw(7), draw(7));
  assert.notEqual(draw(7), draw(8));
});

test("whole numbers stay below their limit and reach all of it", () => {
  const random = new SeededRandom(1);
  const seen = new Set(Array.from({ length: 500 }, () => random.below(8)));
  assert.deepEqual([...seen].sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("hex texts and bytes are the same thing written twice", () => {
  assert.equal(toHex(fromHex("00ff10")), "00ff10");
  assert.throws(() => fromHex("0"), /odd length/);
});

test("golden cases are found by group and by name", () => {
  assert.equal(goldenCases().length, 164);
  assert.equal(goldenCases("negative").length, 3);
  assert.equal(goldenCase("name/orders").expected_hex, "066f7264657273");
  assert.throws(() => goldenCase("no such case"), /no such case/);
});

test("captured frames are as long as they say", () => {
  const frames = capturedFrames();
  assert.ok(frames.length > 70);
  for (const frame of frames) assert.equal(frame.hex.length, frame.length * 2, frame.name);
});
