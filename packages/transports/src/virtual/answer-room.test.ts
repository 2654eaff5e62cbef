import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerRoom } from "./answer-room.ts";

test("Polls are turned away while too much waits to be read, and come in again once it was.", () => {
  const room = new AnswerRoom();
  const gives = [room.take(200 * 1024 * 1024), room.take(100 * 1024 * 1024)];
  assert.equal(room.isOpen, false);
  gives[1]?.();
  assert.equal(room.isOpen, true);
});
