import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp, timestampText } from "./timestamp.ts";
import { U64_MAX } from "./whole-number.ts";

test("a time is given in microseconds or as a date and shown with all its digits", () => {
  assert.equal(parseTimestamp("1790000000000001"), 1_790_000_000_000_001n);
  assert.equal(parseTimestamp("2026-09-21T10:00:00Z"), 1_789_984_800_000_000n);
  assert.throws(() => parseTimestamp("yesterday"), /ISO|date/);
  assert.equal(timestampText(1_789_984_800_000_001n), "2026-09-21 10:00:00.000001 UTC");
  assert.equal(timestampText(U64_MAX), "18446744073709551615us");
});
