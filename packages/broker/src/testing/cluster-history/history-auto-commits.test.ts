import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupOracle, type Reader } from "./history-group-oracle.ts";
import { TopicOracle } from "./history-oracle.ts";

const reader = (member: bigint, generation: number, connection: unknown = undefined): Reader => ({
  ...{ member, generation, nowMs: 0, connection },
  isConnected: () => true,
});

/** Messages with these offsets. */
const messages = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => ({ offset: first + at, text: `${first + at}` }));

/** A group and a partition to which a message was sent each second. */
function fixture(count = 10) {
  const clock = { nowMs: 0 };
  const partition = new TopicOracle({ name: "t", partitionId: 0, isPermanent: true });
  for (let at = 0; at < count; at += 1) {
    const by = { producer: 102n, turn: at, sentMs: 1000 * at };
    partition.acknowledged([`${at}`], at, partition.sending([`${at}`], by));
  }
  partition.finally(messages(0, count - 1));
  const oracle = new GroupOracle([partition], () => clock.nowMs);
  return { clock, partition, oracle };
}

test("what a poll with auto-commit has brought is committed and held by nobody", () => {
  const { partition, oracle } = fixture();
  oracle.given(partition, messages(0, 1), reader(1n, 1));
  oracle.polling(partition, reader(1n, 1)).brought(messages(0, 3));
  oracle.polling(partition, reader(2n, 2)).brought(messages(4, 5));
  assert.throws(
    () => oracle.given(partition, messages(7, 8), reader(2n, 2)),
    /goes on at 7, 5 was committed/,
  );
  oracle.finallyStored(partition, 5);
});

test("a poll with auto-commit leaves nothing out itself, and takes nothing that another one holds", () => {
  const { partition, oracle } = fixture();
  const gap = oracle.polling(partition, reader(1n, 1));
  assert.throws(() => gap.brought(messages(2, 3)), /goes on at 2, -1 was committed/);
  gap.ended("refused");
  oracle.given(partition, messages(0, 2), reader(1n, 1));
  assert.throws(() => oracle.polling(partition, reader(2n, 2)).brought(messages(0, 4)), /is 1's, not 2's/);
});

test("a poll that was refused or brought nothing has committed nothing", () => {
  const { partition, oracle } = fixture();
  oracle.polling(partition, reader(1n, 1)).ended("refused");
  assert.throws(() => oracle.given(partition, messages(3, 4), reader(1n, 1)), /goes on at 3, -1 was/);
  assert.throws(() => oracle.finallyStored(partition, 2), /2 is one of $/);
  oracle.finallyStored(partition, undefined);
});

test("messages may be on the way to a member whose poll was lost, when they were sent before", () => {
  const { clock, partition, oracle } = fixture(60);
  oracle.polling(partition, reader(1n, 1)).brought(messages(0, 3));
  const lost = oracle.polling(partition, reader(1n, 1));
  clock.nowMs = 8000;
  lost.ended("unknown");
  oracle.given(partition, messages(20, 21), reader(2n, 2));
  oracle.finallyStored(partition, 19);
  assert.throws(() => oracle.finallyStored(partition, 30), /keeps the group's offset: 30/);
  oracle.stored(partition, 50);
  assert.throws(() => oracle.finallyStored(partition, 23), /t\/0@24 is left out/);
});

test("a poll that is answered later than another member goes on behind it has brought what it left out", () => {
  const { partition, oracle } = fixture();
  const early = oracle.polling(partition, reader(1n, 1));
  const other = oracle.polling(partition, reader(1n, 1));
  oracle.given(partition, messages(5, 6), reader(2n, 2));
  other.ended("refused");
  early.brought(messages(0, 3));
  assert.throws(() => oracle.finallyStored(partition, 3), /t\/0@4 is left out/);
});

test("what was refused later does not excuse what was left out before", () => {
  const { partition, oracle } = fixture();
  const poll = oracle.polling(partition, reader(1n, 1));
  oracle.given(partition, messages(2, 6), reader(2n, 2));
  poll.ended("refused");
  assert.throws(() => oracle.finallyStored(partition, undefined), /t\/0@0 is left out/);
});

test("the stored offset never goes back behind what a poll has committed", () => {
  const { partition, oracle } = fixture();
  oracle.committing(partition, 3, reader(1n, 1))("accepted");
  oracle.polling(partition, reader(1n, 1)).brought(messages(4, 7));
  // Of a node that is behind: it commits nothing that was not committed before.
  oracle.polling(partition, reader(1n, 1)).brought(messages(2, 5));
  for (const offset of [undefined, 3, 5, 8]) {
    assert.throws(
      () => oracle.finallyStored(partition, offset),
      /keeps the group's offset: \S+ is one of 7$/,
    );
  }
  oracle.finallyStored(partition, 7);
  oracle.committing(partition, 2, reader(1n, 1))("accepted");
  oracle.finallyStored(partition, 2);
  assert.throws(() => oracle.finallyStored(partition, 7), /7 is one of 2$/);
});

test("of a poll and a commit at the same time each may be the last", () => {
  const { partition, oracle } = fixture();
  const poll = oracle.polling(partition, reader(1n, 1));
  oracle.committing(partition, 2, reader(1n, 1))("accepted");
  poll.brought(messages(0, 6));
  for (const offset of [2, 6]) oracle.finallyStored(partition, offset);
  assert.throws(() => oracle.finallyStored(partition, 4), /4 is one of 2,6$/);
});

test("the next poll on a connection goes on behind what the last one has committed", () => {
  const { partition, oracle } = fixture();
  const [one, other] = [{}, {}];
  oracle.polling(partition, reader(1n, 1, one)).brought(messages(0, 5));
  // On another node, which is behind.
  oracle.polling(partition, reader(1n, 2, other)).brought(messages(0, 3));
  const back = () => oracle.polling(partition, reader(1n, 3, one)).brought(messages(5, 6));
  assert.throws(back, /t\/0 goes back to 5, 5 was committed before/);
  oracle.polling(partition, reader(1n, 3, one)).brought(messages(6, 6));
});

test("what a lost poll may have brought is not waited for, anything else is", () => {
  const { partition, oracle } = fixture(4);
  oracle.polling(partition, reader(1n, 1)).brought(messages(0, 1));
  assert.deepEqual(oracle.left(), ["2", "3"]);
  assert.throws(() => oracle.stored(partition, 2), /goes on at 3, 1 was committed/);
  oracle.polling(partition, reader(1n, 1)).ended("unknown");
  oracle.stored(partition, 1);
  assert.deepEqual(oracle.left(), ["2", "3"]);
  oracle.stored(partition, 2);
  assert.deepEqual(oracle.left(), ["3"]);
});
