import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError, loadKeyHash } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { consumerKey, consumerKindOf, readConsumer, writeConsumer } from "./consumer.ts";
import { goldenConsumer } from "./golden-values.compliance.ts";
import { toIdentifier } from "./identifier.ts";

for (const one of goldenCases("consumer")) {
  test(`${one.name} is written and read as recorded`, () => {
    const consumer = goldenConsumer(one.input);
    assert.equal(toHex(encodeWith(writeConsumer, consumer)), one.expected_hex);
    assert.deepEqual(decodeWith(readConsumer, fromHex(one.expected_hex ?? "")), consumer);
    assert.equal(consumerKindOf(consumer), one.input.kind);
  });
}

for (const one of goldenCases("named_consumer_key")) {
  test(`${one.name} is the hash of the consumer's name`, async () => {
    const xxh32 = await loadKeyHash();
    assert.equal(consumerKey(toIdentifier(one.input.name_utf8), xxh32), one.expected.u32);
  });
}

test("a consumer with a number is its own key", () => {
  const never = (): number => assert.fail("a number is not hashed");
  assert.equal(consumerKey(toIdentifier(4_294_967_295), never), 4_294_967_295);
});

test("kinds other than consumer and group are refused", () => {
  for (const kind of ["00", "03", "ff"]) {
    assert.throws(
      () => decodeWith(readConsumer, fromHex(`${kind}010401000000`)),
      (error) => isWireError(error, "unknown_kind") && error.position === 0,
    );
  }
});
