import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CodedError,
  ERROR_ROWS,
  ErrorCode,
  errorName,
  errorText,
  isCodedError,
  isKnownErrorCode,
} from "./index.ts";

test("every code, name and text of the table is given once", () => {
  for (const column of [0, 1, 2] as const) {
    const values = ERROR_ROWS.map((row) => row[column]);
    assert.equal(new Set(values).size, values.length);
  }
});

test("codes rise, and only ours lie at 20000 or above", () => {
  const codes = ERROR_ROWS.map((row) => row[0] as number);
  assert.deepEqual(
    codes,
    [...codes].sort((a, b) => a - b),
  );
  assert.ok(codes.every((code) => code <= 14003 || (code > 20000 && code < 21000)));
});

test("text forms are the names in snake case", () => {
  for (const [, name, text] of ERROR_ROWS) {
    const snake = name
      .replace(/(?<=[a-z0-9])([A-Z])|(?<=[A-Z])([A-Z])(?=[a-z])/g, (c) => `_${c}`)
      .toLowerCase();
    assert.equal(text.replaceAll("_", ""), snake.replaceAll("_", ""));
  }
});

test("error 2010 is TopicIdNotFound", () => {
  assert.equal(ErrorCode.TopicIdNotFound, 2010);
  assert.equal(errorName(2010), "TopicIdNotFound");
  assert.equal(errorText(2010), "topic_id_not_found");
});

test("an unknown code has a name, a text and is not known", () => {
  assert.equal(errorName(85), "UnknownError");
  assert.equal(errorText(85), "unknown_error");
  assert.equal(isKnownErrorCode(85), false);
  assert.equal(isKnownErrorCode(58), true);
});

test("a coded error is known by its symbol and keeps its cause", () => {
  const cause = new Error("inner");
  const error = new CodedError(ErrorCode.DiskFull, "The disk is full.", { cause, details: { freeBytes: 0 } });
  assert.equal(isCodedError(error as unknown), true);
  assert.equal(isCodedError(error as unknown, 20001), true);
  assert.equal(isCodedError(error as unknown, 3), false);
  assert.equal(isCodedError(cause), false);
  assert.equal(error.cause, cause);
  assert.equal(error.name, "DiskFull");
});
