import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { diskError } from "./disk-error.ts";

test("A disk error says by its code whether there was no room, and by its text what to do.", () => {
  const errorOf = (errno: string) => diskError({ operation: "open", path: "a/b", errno });
  assert.equal(errorOf("ENOSPC").code, ErrorCode.DiskFull);
  assert.match(errorOf("EDQUOT").message, /free space/);
  for (const errno of ["EIO", "EMFILE", "ENFILE"]) {
    const { code, message, details } = errorOf(errno);
    assert.equal(code, ErrorCode.IoError);
    assert.ok(message.includes(`a/b (${errno})`), message);
    assert.deepEqual(details, { operation: "open", path: "a/b", errno });
  }
  assert.match(errorOf("EMFILE").message, /raise its limit of open files/);
  assert.match(errorOf("ENFILE").message, /raise fs\.file-max/);
});
