import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCase } from "@millrace/testkit";
import { decodeDeleteConsumerOffset } from "./delete-consumer-offset.ts";
import { decodeStoreConsumerOffset } from "./store-consumer-offset.ts";

const STORE = goldenCase("request/store_consumer_offset").expected_hex ?? "";
const DELETE = goldenCase("request/delete_consumer_offset").expected_hex ?? "";

test("ack 0 and 1 are known", () => {
  assert.equal(decodeStoreConsumerOffset(fromHex(STORE)).ack, "quorum");
  assert.equal(decodeStoreConsumerOffset(fromHex(`${STORE.slice(0, -2)}00`)).ack, "none");
});

test("any other ack is refused at its byte", () => {
  const position = STORE.length / 2 - 1;
  assert.throws(
    () => decodeStoreConsumerOffset(fromHex(`${STORE.slice(0, -2)}02`)),
    (error) => isWireError(error, "unknown_kind") && error.position === position,
  );
  assert.throws(
    () => decodeDeleteConsumerOffset(fromHex(`${DELETE.slice(0, -2)}ff`)),
    (error) => isWireError(error, "unknown_kind"),
  );
});
