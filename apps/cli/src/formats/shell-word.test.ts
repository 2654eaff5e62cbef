import assert from "node:assert/strict";
import { test } from "node:test";
import { shellWord } from "./shell-word.ts";

test("a word that a shell would split or read stands in quotes, any other as it is", () => {
  assert.deepEqual(["orders", 7, "a-b.c:d"].map(shellWord), ["orders", "7", "a-b.c:d"]);
  assert.deepEqual(["two words", "it's", "$HOME", "größe", ""].map(shellWord), [
    "'two words'",
    "'it'\\''s'",
    "'$HOME'",
    "'größe'",
    "''",
  ]);
});
