import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, parseIdOrName, parseName } from "./id-or-name.ts";

test("a token of digits is an id and anything else is a name", () => {
  assert.equal(parseIdOrName("7"), 7);
  assert.equal(parseIdOrName("4294967295"), 4_294_967_295);
  assert.equal(parseIdOrName("7a"), "7a");
  assert.equal(parseIdOrName("-7"), "-7");
  assert.throws(() => parseIdOrName("4294967296"), /at most 4294967295/);
  assert.equal(describe(7), "#7");
  assert.equal(describe("shop"), '"shop"');
});

test("a name is bounded in bytes, not in characters", () => {
  assert.equal(parseName("ä".repeat(127)), "ä".repeat(127));
  assert.throws(() => parseName("ä".repeat(128)), /this one has 256/);
  assert.throws(() => parseName(""), /this one has 0/);
});
