import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { ByteReader, isWireError, type WireReason } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { identifierText, readIdentifier, toIdentifier, writeIdentifier } from "./identifier.ts";

for (const one of goldenCases("identifier")) {
  test(`${one.name} is written and read as recorded`, () => {
    const identifier = toIdentifier(one.input.value);
    assert.equal(toHex(encodeWith(writeIdentifier, identifier)), one.expected_hex);
    assert.deepEqual(decodeWith(readIdentifier, fromHex(one.expected_hex ?? "")), identifier);
  });
}

function assertRefused(hex: string, reason: WireReason, position: number): void {
  assert.throws(
    () => readIdentifier(new ByteReader(fromHex(hex))),
    (error) => isWireError(error, reason) && error.position === position,
    hex,
  );
}

test("identifiers that are none are refused at the byte that is wrong", () => {
  assertRefused("", "unexpected_end", 0);
  assertRefused("000401000000", "unknown_kind", 0);
  assertRefused("030401000000", "unknown_kind", 0);
  assertRefused("01030100000000", "bad_length", 1);
  assertRefused("010501000000ff", "bad_length", 1);
  assertRefused("0104010000", "unexpected_end", 2);
  assertRefused("0200", "empty_name", 1);
  assertRefused("0202ff41", "invalid_utf8", 2);
});

test("a name of digits stays a name", () => {
  assert.deepEqual(toIdentifier("42"), { kind: "name", name: "42" });
  assert.deepEqual(toIdentifier(42), { kind: "numeric", id: 42 });
});

test("what cannot travel is refused with InvalidIdentifier", () => {
  const refused = [-1, 0.5, 4_294_967_296, Number.NaN, "", "x".repeat(256), "ł".repeat(128), "\ud800"];
  for (const value of refused) {
    assert.throws(
      () => toIdentifier(value),
      (error) => isCodedError(error, ErrorCode.InvalidIdentifier),
    );
  }
  // What a program without types hands over.
  for (const value of [undefined, null, true, 7n, {}, [], { kind: "id", id: 1 }, { kind: "name" }]) {
    assert.throws(
      () => toIdentifier(value as never),
      (error) => isCodedError(error, ErrorCode.InvalidIdentifier),
    );
  }
  assert.throws(
    () => encodeWith(writeIdentifier, { kind: "name", name: "" }),
    (error) => isCodedError(error, ErrorCode.InvalidIdentifier),
  );
});

test("the longest names travel", () => {
  for (const name of ["x".repeat(255), "ł".repeat(127), "€".repeat(85)]) {
    assert.deepEqual(decodeWith(readIdentifier, encodeWith(writeIdentifier, toIdentifier(name))), {
      kind: "name",
      name,
    });
  }
});

test("an identifier is shown as its id or its name", () => {
  assert.equal(identifierText(toIdentifier(7)), "7");
  assert.equal(identifierText(toIdentifier("orders")), "orders");
});
