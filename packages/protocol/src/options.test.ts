import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { isWireError, typedField, type WireReason } from "@millrace/framing";
import { fromHex, goldenCases, toHex, utf8 } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { goldenOptions } from "./golden-values.compliance.ts";
import {
  type OptionEntries,
  readOptionsBlock,
  readOptionsToEnd,
  writeOptionsBlock,
  writeOptionsToEnd,
} from "./options.ts";

for (const one of goldenCases("options")) {
  test(`${one.name} is written and read as recorded`, () => {
    const prefixed = one.name.includes("length_prefixed");
    const [write, read] = prefixed
      ? ([writeOptionsBlock, readOptionsBlock] as const)
      : ([writeOptionsToEnd, readOptionsToEnd] as const);
    const options = goldenOptions(one.input.entries);
    assert.equal(toHex(encodeWith(write, options)), one.expected_hex);
    assert.deepEqual(decodeWith(read, fromHex(one.expected_hex ?? "")), options);
  });
}

const FLAG = "0301000000" + "01";
const key = (text: string) => `02${toHex(Uint8Array.of(text.length))}000000${toHex(utf8(text))}`;

function assertRefused(hex: string, reason: WireReason, position: number): void {
  assert.throws(
    () => decodeWith(readOptionsToEnd, fromHex(hex)),
    (error) => isWireError(error, reason) && error.position === position,
    hex,
  );
}

test("a key that is no string, appears twice or has a bad length is refused", () => {
  assertRefused(`01010000006b${FLAG}`, "unknown_kind", 0);
  assertRefused(`${key("k")}${FLAG}${key("k")}${FLAG}`, "bad_value", 12);
  assertRefused("0200000000", "bad_length", 1);
  assertRefused("0200010000", "bad_length", 1);
  assertRefused(key("k"), "unexpected_end", 6);
  assertRefused(`${key("k")}0002000000${"00".repeat(2)}`, "unknown_kind", 6);
});

test("a block that ends inside a pair is refused", () => {
  const block = `0b000000${key("k")}${FLAG}`;
  assert.throws(
    () => decodeWith(readOptionsBlock, fromHex(block)),
    (error) => isWireError(error, "bad_length"),
  );
  assert.throws(
    () => decodeWith(readOptionsBlock, fromHex(`ff000000${key("k")}`)),
    (error) => isWireError(error, "unexpected_end") && error.position === 0,
  );
});

function manyOptions(count: number, valueLength: number): OptionEntries {
  const value = typedField("raw", new Uint8Array(valueLength));
  return Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value }));
}

test("1024 options travel, one more is refused on both sides", () => {
  const most = manyOptions(1024, 1);
  const bytes = encodeWith(writeOptionsToEnd, most);
  assert.equal(decodeWith(readOptionsToEnd, bytes).length, 1024);
  const tooLarge = (error: unknown) => isCodedError(error, ErrorCode.OptionsBlockTooLarge);
  assert.throws(() => encodeWith(writeOptionsToEnd, manyOptions(1025, 1)), tooLarge);
  const more = fromHex(toHex(bytes) + key("one-more") + FLAG);
  assert.throws(() => decodeWith(readOptionsToEnd, more), tooLarge);
});

test("a block of more than 100 000 bytes is refused on both sides", () => {
  const tooLarge = (error: unknown) => isCodedError(error, ErrorCode.OptionsBlockTooLarge);
  assert.throws(() => encodeWith(writeOptionsToEnd, manyOptions(500, 255)), tooLarge);
  assert.throws(() => decodeWith(readOptionsToEnd, new Uint8Array(100_001)), tooLarge);
});

test("no bytes are no options", () => {
  assert.deepEqual(decodeWith(readOptionsToEnd, new Uint8Array(0)), []);
  assert.equal(encodeWith(writeOptionsToEnd, []).length, 0);
});
