import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { isWireError, type WireReason } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { goldenPartitioning } from "./golden-values.compliance.ts";
import { readPartitioning, writePartitioning } from "./partitioning.ts";

for (const one of goldenCases("partitioning")) {
  test(`${one.name} is written and read as recorded`, () => {
    const partitioning = goldenPartitioning(one.input);
    assert.equal(toHex(encodeWith(writePartitioning, partitioning)), one.expected_hex);
    assert.deepEqual(decodeWith(readPartitioning, fromHex(one.expected_hex ?? "")), partitioning);
  });
}

function assertRefused(hex: string, reason: WireReason, position: number): void {
  assert.throws(
    () => decodeWith(readPartitioning, fromHex(hex)),
    (error) => isWireError(error, reason) && error.position === position,
    hex,
  );
}

test("a length that does not suit the kind is refused", () => {
  assertRefused("0000", "unknown_kind", 0);
  assertRefused("0400", "unknown_kind", 0);
  assertRefused("0101ff", "bad_length", 1);
  assertRefused("0203000000", "bad_length", 1);
  assertRefused("0300", "bad_length", 1);
  assertRefused("03024b", "unexpected_end", 2);
});

test("keys outside 1 to 255 bytes are not sent", () => {
  for (const length of [0, 256]) {
    assert.throws(
      () => encodeWith(writePartitioning, { kind: "key", key: new Uint8Array(length) }),
      (error) => isCodedError(error, ErrorCode.InvalidKeyValueLength) && error.details["length"] === length,
    );
  }
});

test("a decoded key is a view of the body", () => {
  const body = fromHex("03026162");
  const partitioning = decodeWith(readPartitioning, body);
  assert.ok(partitioning.kind === "key" && partitioning.key.buffer === body.buffer);
});
