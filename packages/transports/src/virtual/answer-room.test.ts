import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerRoom } from "./answer-room.ts";

const MIB = 1024 * 1024;

test("Long answers are turned away while too much waits to be read, and come in again once it was.", () => {
  const room = new AnswerRoom();
  const gives = [room.take(200 * MIB), room.take(100 * MIB)];
  assert.deepEqual([room.isOpen, room.admits(MIB), room.admits(1000)], [false, false, true]);
  gives[1]?.();
  assert.deepEqual([room.isOpen, room.admits(MIB)], [true, true]);
  gives[1]?.();
  room.take(100 * MIB);
  assert.equal(room.isOpen, false, "an answer is counted off once");
});

test("Four sure polls are under way at once, the others follow in order, also behind one that failed.", async () => {
  const room = new AnswerRoom();
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const polls = Array.from({ length: 7 }, (_, index) =>
    room.surely(() => {
      begun.push(index);
      return new Promise<void>((resolve, reject) =>
        ends.push((error) => (error ? reject(error) : resolve())),
      );
    }),
  );
  const settled = Promise.allSettled(polls);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[2]?.(new Error("refused"));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  for (let index = 0; index < 7; index++) {
    ends[index]?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { length } = (await settled).filter(({ status }) => status === "fulfilled");
  assert.deepEqual([begun.length, length], [7, 6]);
});
