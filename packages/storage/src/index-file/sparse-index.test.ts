import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeIndex, encodeIndex } from "./index-file.ts";
import { INDEX_SPACING, SparseIndex } from "./sparse-index.ts";

function indexOf(steps: readonly number[]): SparseIndex {
  const index = new SparseIndex();
  for (const [at, step] of steps.entries()) index.add(at * 10, 1000 + Math.floor(at / 3), at * 1000 + step);
  return index;
}

describe("the sparse index", () => {
  it("finds the last entry at or before an offset and the last before a time", () => {
    const index = indexOf(Array.from({ length: 200 }, () => 0));
    assert.equal(index.atOffset(-1), -1);
    assert.equal(index.atOffset(0), 0);
    assert.equal(index.atOffset(19), 1);
    assert.equal(index.atOffset(5000), 199);
    assert.equal(index.beforeTimestamp(1000), -1);
    assert.equal(index.beforeTimestamp(1001), 2);
    assert.equal(index.beforeTimestamp(9999), 199);
  });

  it("notes a batch only when the last entry lies far enough before it", () => {
    const index = new SparseIndex();
    for (let at = 0; at < 100; at += 1) index.note(at, at, (at * INDEX_SPACING) / 4);
    assert.equal(index.count, 25);
    assert.deepEqual(index.entry(1), { offset: 4, timestamp: 4, position: INDEX_SPACING });
    assert.equal(index.entry(25), undefined);
  });

  it("survives its file", () => {
    const property = fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 300 }), (steps) => {
      const index = indexOf(steps.map((step, at) => (at === 0 ? 0 : step)));
      const bounds = { firstOffset: 0, endOffset: 10_000, logLength: steps.length * 1000 };
      const decoded = decodeIndex(encodeIndex(index), bounds);
      assert.equal(decoded?.count, index.count);
      for (let at = 0; at < index.count; at += 1) assert.deepEqual(decoded?.entry(at), index.entry(at));
    });
    fc.assert(property, { numRuns: 50 });
  });

  it("is refused when its file cannot be the segment's", () => {
    const bytes = encodeIndex(indexOf([0, 0, 0]));
    const bounds = { firstOffset: 0, endOffset: 30, logLength: 3000 };
    assert.ok(decodeIndex(bytes, bounds));
    assert.equal(decodeIndex(bytes.subarray(1), bounds), undefined);
    assert.equal(
      decodeIndex(bytes.subarray(24), bounds),
      undefined,
      "the first entry is the segment's start",
    );
    assert.equal(decodeIndex(bytes, { ...bounds, firstOffset: 1 }), undefined);
    assert.equal(decodeIndex(bytes, { ...bounds, endOffset: 20 }), undefined);
    assert.equal(decodeIndex(bytes, { ...bounds, logLength: 2000 }), undefined);
    assert.equal(decodeIndex(new Uint8Array(0), bounds), undefined);
    assert.ok(decodeIndex(new Uint8Array(0), { firstOffset: 5, endOffset: 5, logLength: 0 }));
    const twice = new Uint8Array([...bytes, ...bytes.subarray(48)]);
    assert.equal(decodeIndex(twice, bounds), undefined, "an entry saved twice is out of order");
  });
});
