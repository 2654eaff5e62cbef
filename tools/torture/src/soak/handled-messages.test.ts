import assert from "node:assert/strict";
import { test } from "node:test";
import { Violation } from "../oracle/violation.ts";
import { HandledMessages } from "./handled-messages.ts";

const isUnread = (text: RegExp) => (error: unknown) =>
  error instanceof Violation && error.kind === "unread" && text.test(error.message);

test("what was handled is counted, whoever spoke first, and what came again too", () => {
  const messages = new HandledMessages(2);
  messages.handled(1, 0, 90);
  messages.sent(1, 0, 2, 100);
  assert.equal(messages.missingCount, 1);
  messages.handled(1, 1, 130);
  messages.handled(1, 1, 140);
  assert.equal(messages.missingCount, 0);
  assert.deepEqual(messages.check(30), { count: 2, repeatedCount: 1, longestWaitMs: 30 });
});

test("a message that nobody handled, and one that waited too long, are found and named", () => {
  const messages = new HandledMessages(1);
  messages.sent(0, 0, 2, 0);
  messages.handled(0, 0, 10);
  assert.throws(() => messages.check(100), isUnread(/message 1 of partition 0 was never handled/));
  messages.handled(0, 1, 101);
  assert.throws(() => messages.check(100), isUnread(/message 1 of partition 0 waited 101 ms/));
  messages.check(101);
});
