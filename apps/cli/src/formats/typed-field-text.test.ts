import assert from "node:assert/strict";
import { test } from "node:test";
import { optionText } from "./typed-field-text.ts";
import { U64_MAX } from "./whole-number.ts";

test("an option without a limit is shown in the words of the topic's own fields", () => {
  assert.equal(optionText("max_topic_size", U64_MAX), "unlimited");
  assert.equal(optionText("message_expiry", U64_MAX), "never");
  assert.equal(optionText("max_topic_size", U64_MAX - 1n), "18446744073709551614");
  assert.equal(optionText("message_expiry", 60_000_000n), "60000000");
  assert.equal(optionText("another", U64_MAX), "18446744073709551615");
  assert.equal(optionText("durability", "persisted"), "persisted");
});
