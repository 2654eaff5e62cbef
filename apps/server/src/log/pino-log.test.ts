import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "./pino-log.ts";

test("Facts are printed with bigints exact and errors readable, causes too.", () => {
  const error = new Error("the disk is full", { cause: new TypeError("no space") });
  assert.deepEqual(printable({ count: 1, id: 2n ** 64n - 1n, error }), {
    count: 1,
    id: "18446744073709551615",
    error: "Error: the disk is full, caused by TypeError: no space",
  });
});
