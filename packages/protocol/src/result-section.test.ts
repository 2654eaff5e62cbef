import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCase, toHex } from "@millrace/testkit";
import {
  decodeResultSection,
  encodeResultRejection,
  encodeResultSuccess,
  RESULT_SUCCESS,
} from "./result-section.ts";

test("result_section/success_empty is written and read as recorded", () => {
  const { expected_hex } = goldenCase("result_section/success_empty");
  assert.equal(toHex(encodeResultSuccess()), expected_hex);
  assert.equal(toHex(RESULT_SUCCESS), expected_hex);
  assert.deepEqual(decodeResultSection(RESULT_SUCCESS), { code: 0, payload: new Uint8Array(0) });
});

test("result_section/rejection_1012 is written and read as recorded", () => {
  const { expected_hex } = goldenCase("result_section/rejection_1012");
  assert.equal(toHex(encodeResultRejection(1012)), expected_hex);
  assert.deepEqual(decodeResultSection(fromHex(expected_hex ?? "")), {
    code: 1012,
    payload: new Uint8Array(0),
  });
});

test("a success carries its payload behind the count", () => {
  const body = encodeResultSuccess(Uint8Array.of(7, 8));
  assert.equal(toHex(body), "000000000708");
  assert.deepEqual(decodeResultSection(body), { code: 0, payload: Uint8Array.of(7, 8) });
});

test("the first entry that says something counts", () => {
  const body = fromHex("02000000" + "0000000000000000" + "01000000f4030000" + "aa");
  assert.equal(decodeResultSection(body).code, 1012);
});

test("a body shorter than the section it announces is refused", () => {
  for (const hex of ["", "000000", "010000000000", "0100000000000000f40300", "ffffffff0000000000000000"]) {
    assert.throws(
      () => decodeResultSection(fromHex(hex)),
      (error) => isWireError(error, "unexpected_end"),
    );
  }
});
