import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { idBytes, idOf } from "./message-id.ts";

test("an id is 16 bytes, the highest first, both ways; none is 0; another length is refused", () => {
  const id = 0x00112233_44556677_8899aabb_ccddeeffn;
  assert.equal(Buffer.from(idBytes(id)).toString("hex"), "00112233445566778899aabbccddeeff");
  for (const one of [id, 1n, (1n << 128n) - 1n]) assert.equal(idOf(idBytes(one)), one);
  assert.equal(idOf(new Uint8Array(0)), 0n);
  assert.throws(
    () => idOf(new Uint8Array(15)),
    (error) => isCodedError(error, ErrorCode.InvalidCommand),
  );
});
