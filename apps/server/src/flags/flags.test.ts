import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { parseFlags } from "./flags.ts";

test("--replica-id takes a number, and nothing else.", () => {
  assert.equal(parseFlags([]).replica, undefined);
  assert.equal(parseFlags(["--replica-id", "2"]).replica, 2);
  for (const text of ["first", "-1", "1.5", "", "1000"]) {
    assert.throws(
      () => parseFlags([`--replica-id=${text}`]),
      (error) => isCodedError(error, ErrorCode.InvalidArgument) && error.message.includes(`"${text}"`),
    );
  }
});
