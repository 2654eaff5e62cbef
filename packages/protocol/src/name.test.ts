import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { ByteReader, ByteWriter } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { checkName, isName } from "./name.ts";

for (const one of goldenCases("name")) {
  test(`${one.name} is written and read as recorded`, () => {
    assert.ok(isName(one.input.value));
    assert.equal(toHex(new ByteWriter().name(one.input.value).finish()), one.expected_hex);
    assert.equal(new ByteReader(fromHex(one.expected_hex ?? "")).name(), one.input.value);
  });
}

test("a name is 1 to 255 bytes of UTF-8", () => {
  for (const text of ["a", "x".repeat(255), "€".repeat(85), "🚂".repeat(63)]) assert.ok(isName(text), text);
  for (const text of ["", "x".repeat(256), "€".repeat(86), "🚂".repeat(64), "a\udc00"]) {
    assert.ok(!isName(text), text);
  }
});

test("checkName refuses with the code of the thing that is named", () => {
  checkName("orders", ErrorCode.InvalidStreamName);
  assert.throws(
    () => checkName("", ErrorCode.InvalidTopicName),
    (error) => isCodedError(error, ErrorCode.InvalidTopicName),
  );
});
