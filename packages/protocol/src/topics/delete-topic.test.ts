import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, toHex } from "@millrace/testkit";
import { toIdentifier } from "../identifier.ts";
import { decodeDeleteTopic, encodeDeleteTopic } from "./delete-topic.ts";

const BODY = { stream: toIdentifier(1), topic: toIdentifier("a") };
const HEX = "010401000000020161";

test("the word the official Node SDK adds is let pass", () => {
  assert.equal(toHex(encodeDeleteTopic(BODY)), HEX);
  assert.deepEqual(decodeDeleteTopic(fromHex(HEX)), BODY);
  assert.deepEqual(decodeDeleteTopic(fromHex(`${HEX}03000000`)), BODY);
});

test("any other rest is refused", () => {
  for (const rest of ["00", "000000", "0000000000", "0000000000000000"]) {
    assert.throws(
      () => decodeDeleteTopic(fromHex(HEX + rest)),
      (error) => isWireError(error, "trailing_bytes"),
    );
  }
});
