import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS, Operation } from "./operation.table.ts";
import { hasResultSection, operationByByte } from "./operation.ts";

test("every operation has one row with its own byte", () => {
  assert.deepEqual(Object.fromEntries(OPERATIONS.map(({ name, byte }) => [name, byte])), Operation);
  for (const row of OPERATIONS) assert.equal(operationByByte(row.byte), row);
});

test("result sections stand in replies of the bytes the specification lists, and of no other", () => {
  const expected = new Set([1, 64, 65, 66, 67, 68, 161, 162]);
  for (let byte = 128; byte <= 149; byte += 1) if (byte !== 138) expected.add(byte);
  for (let byte = 0; byte < 256; byte += 1)
    assert.equal(hasResultSection(byte), expected.has(byte), `${byte}`);
});

test("unknown bytes have no row", () => {
  for (const byte of [0, 4, 63, 69, 127, 150, 163, 255, 256, -1])
    assert.equal(operationByByte(byte), undefined);
});

test("the bytes 64 to 68 are never requested", () => {
  for (const { byte, requested } of OPERATIONS) assert.equal(requested, byte < 64 || byte > 68);
});
