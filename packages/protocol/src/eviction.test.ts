import assert from "node:assert/strict";
import { test } from "node:test";
import { EvictionReason, errorCodeOfEviction } from "./eviction.ts";

/** The table of section 2.4: reasons 1 to 15 and what clients report. */
const CODES = [40, 3, 3, 3, 3, 3, 40, 40, 42, 53, 40, 40, 30, 14003, 4];

test("every reason is reported as the specification says", () => {
  assert.deepEqual(
    Object.values(EvictionReason).map((reason) => errorCodeOfEviction(reason)),
    CODES,
  );
});

test("reasons nobody knows are Unauthenticated", () => {
  for (const reason of [0, 16, 255]) assert.equal(errorCodeOfEviction(reason), 40);
});

test("an incompatible protocol needs a window that makes sense", () => {
  const codeOf = (serverProtocolVersionMin: number, serverProtocolVersion: number) =>
    errorCodeOfEviction(EvictionReason.IncompatibleProtocol, {
      serverProtocolVersion,
      serverProtocolVersionMin,
    });
  assert.equal(codeOf(11_264, 11_264), 14_003);
  assert.equal(codeOf(1, 2), 14_003);
  assert.equal(codeOf(0, 11_264), 40);
  assert.equal(codeOf(11_265, 11_264), 40);
});

test("the window of other reasons is not looked at", () => {
  const versions = { serverProtocolVersion: 0, serverProtocolVersionMin: 0 };
  assert.equal(errorCodeOfEviction(EvictionReason.InvalidCredentials, versions), 42);
});
