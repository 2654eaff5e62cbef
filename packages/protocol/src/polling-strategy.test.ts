import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { goldenStrategy } from "./golden-values.compliance.ts";
import { readPollingStrategy, writePollingStrategy } from "./polling-strategy.ts";

for (const one of goldenCases("polling_strategy")) {
  test(`${one.name} is written and read as recorded`, () => {
    const strategy = goldenStrategy(one.input);
    assert.equal(toHex(encodeWith(writePollingStrategy, strategy)), one.expected_hex);
    assert.deepEqual(decodeWith(readPollingStrategy, fromHex(one.expected_hex ?? "")), strategy);
  });
}

test("the value of first, last and next is ignored", () => {
  for (const [kind, expected] of [
    ["03", "first"],
    ["04", "last"],
    ["05", "next"],
  ] as const) {
    assert.deepEqual(decodeWith(readPollingStrategy, fromHex(`${kind}ffffffffffffffff`)), { kind: expected });
  }
});

test("kinds outside 1 to 5 are refused", () => {
  for (const kind of ["00", "06", "ff"]) {
    assert.throws(
      () => decodeWith(readPollingStrategy, fromHex(`${kind}0000000000000000`)),
      (error) => isWireError(error, "unknown_kind") && error.position === 0,
    );
  }
});

test("every u64 travels as an offset", () => {
  const strategy = { kind: "offset", offset: 0xffff_ffff_ffff_ffffn } as const;
  assert.deepEqual(decodeWith(readPollingStrategy, encodeWith(writePollingStrategy, strategy)), strategy);
});
