import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFileMessages, encodeFileMessage, type FileMessage } from "./message-file.ts";

const MESSAGE: FileMessage = {
  checksum: 0xfedc_ba98_7654_3210n,
  id: (1n << 127n) | 7n,
  offset: 9_007_199_254_740_993n,
  timestamp: 1_790_000_000_000_001n,
  originTimestamp: 1_790_000_000_000_000n,
  payload: new TextEncoder().encode("payload"),
  userHeaders: Uint8Array.of(2, 1, 0, 0, 0, 107, 3, 1, 0, 0, 0, 1),
};

test("messages written one after the other to a file come back exactly", () => {
  const second = { ...MESSAGE, id: 1n, userHeaders: new Uint8Array(0) };
  const file = Buffer.concat([encodeFileMessage(MESSAGE), encodeFileMessage(second)]);
  assert.equal(file.length, 64 + 7 + 12 + 64 + 7);
  const [first, other] = [...decodeFileMessages(new Uint8Array(file))];
  assert.deepEqual(first, MESSAGE);
  assert.deepEqual(other, second);
});

test("a file that ends inside a message is refused with the place of that message", () => {
  const whole = encodeFileMessage(MESSAGE);
  const file = new Uint8Array(Buffer.concat([whole, whole.subarray(0, 70)]));
  assert.throws(() => [...decodeFileMessages(file)], /at byte 83/);
  assert.throws(() => [...decodeFileMessages(file.subarray(0, 5))], /at byte 0/);
});
