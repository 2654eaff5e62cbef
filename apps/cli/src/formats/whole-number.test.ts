import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBatchCount, parseU64, U64_MAX } from "./whole-number.ts";

test("an offset keeps all 64 bits", () => {
  assert.equal(parseU64("18446744073709551615"), U64_MAX);
  assert.equal(parseU64("9007199254740993"), 9_007_199_254_740_993n);
  for (const text of ["18446744073709551616", "-1", "1.5", "", "0x10"]) assert.throws(() => parseU64(text));
});

test("a count of partitions is at most what the server takes at once", () => {
  assert.equal(parseBatchCount("1000"), 1000);
  for (const text of ["0", "1001", "ten"]) assert.throws(() => parseBatchCount(text), /from 1 to 1000/);
});
