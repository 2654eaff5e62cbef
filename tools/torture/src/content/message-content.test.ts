import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceivedMessage } from "@millrace/client";
import { MessageContent } from "./message-content.ts";

/** A message as the client hands it over, as far as the judge looks at it. */
function received(message: { id: bigint; payload: Uint8Array }): ReceivedMessage {
  return { ...message, offsetNumber: 5 } as unknown as ReceivedMessage;
}

test("messages depend on seed and number alone, and their payloads have 1 to 4096 bytes", () => {
  const content = new MessageContent(7);
  const messages = content.messages(0, 3000);
  assert.deepEqual(new MessageContent(7).messages(0, 3000), messages);
  assert.notDeepEqual(new MessageContent(8).messages(0, 10), messages.slice(0, 10));
  const lengths = messages.map(({ payload }) => payload.length);
  assert.ok(Math.min(...lengths) === 1 && Math.max(...lengths) <= 4096 && Math.max(...lengths) > 4000);
  const total = lengths.reduce((sum, length) => sum + length + 48, 0);
  assert.equal(content.framesLength(0, 3000), total);
});

test("a message as sent is intact; any flipped bit of payload or checksum makes it altered", () => {
  const content = new MessageContent(7);
  for (const message of content.messages(100, 200)) {
    const number = Number(message.id & 0xffff_ffff_ffff_ffffn);
    assert.deepEqual(content.judge(received(message)), { offset: 5, number, isIntact: true });
    const payload = message.payload.slice();
    const at = number % payload.length;
    payload[at] = (payload[at] ?? 0) ^ (1 << (number % 8));
    assert.equal(content.judge(received({ ...message, payload })).isIntact, false);
    assert.equal(content.judge(received({ ...message, id: message.id ^ (1n << 70n) })).isIntact, false);
  }
});

test("the payload of another message, or one cut short, is altered", () => {
  const content = new MessageContent(7);
  const [one, two] = content.messages(0, 2) as [
    { id: bigint; payload: Uint8Array },
    { id: bigint; payload: Uint8Array },
  ];
  assert.equal(content.judge(received({ id: one.id, payload: two.payload })).isIntact, false);
  assert.equal(content.judge(received({ id: one.id, payload: one.payload.subarray(1) })).isIntact, false);
});

test("a message of another run has no number", () => {
  const [message] = new MessageContent(8).messages(0, 1);
  assert.ok(message !== undefined);
  assert.equal(new MessageContent(7).judge(received(message)).number, undefined);
});
