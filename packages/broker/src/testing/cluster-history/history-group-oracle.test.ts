import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupOracle, type Reader } from "./history-group-oracle.ts";
import { TopicOracle } from "./history-oracle.ts";

const reader = (member: bigint, generation: number, connection = { isThere: true }): Reader => ({
  ...{ member, generation, nowMs: 0 },
  isConnected: () => connection.isThere,
});

/** Messages with these offsets. */
const messages = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => ({ offset: first + at, text: `${first + at}` }));

function fixture() {
  const partition = new TopicOracle({ name: "t", partitionId: 0, isPermanent: true });
  return { partition, oracle: new GroupOracle([partition]) };
}

test("what one member holds uncommitted may not be given to another that owns the partition later", () => {
  const { partition, oracle } = fixture();
  oracle.given(partition, messages(0, 2), reader(1n, 1));
  assert.throws(() => oracle.given(partition, messages(0, 4), reader(2n, 2)), /is 1's, not 2's/);
});

test("a node that is behind may give again what was committed, and nobody holds that", () => {
  const { partition, oracle } = fixture();
  oracle.given(partition, messages(0, 5), reader(1n, 1));
  oracle.committing(partition, 5, reader(1n, 1))("accepted");
  oracle.given(partition, messages(3, 5), reader(1n, 2));
  oracle.given(partition, messages(0, 5), reader(2n, 3));
  oracle.given(partition, messages(6, 7), reader(2n, 3));
  oracle.given(partition, messages(2, 2), reader(1n, 4));
  assert.throws(() => oracle.given(partition, messages(6, 6), reader(1n, 4)), /is 2's, not 1's/);
});

test("a commit that was refused for good excuses no gap, one that may have been done does", () => {
  const { partition, oracle } = fixture();
  const one = reader(1n, 1);
  oracle.given(partition, messages(0, 5), one);
  oracle.committing(partition, 5, one)("refused");
  assert.throws(() => oracle.given(partition, messages(6, 7), one), /goes on at 6, -1 was committed/);
  oracle.committing(partition, 5, one)("unknown");
  oracle.given(partition, messages(6, 7), one);
});

test("whose commit was refused still holds what it was given", () => {
  const { partition, oracle } = fixture();
  oracle.given(partition, messages(0, 2), reader(1n, 1));
  oracle.committing(partition, 2, reader(1n, 1))("refused");
  assert.throws(() => oracle.given(partition, messages(0, 2), reader(2n, 2)), /is 1's, not 2's/);
});

test("no commit is accepted from who owned the partition before one that is there still", () => {
  const { partition, oracle } = fixture();
  const connection = { isThere: true };
  const [before, owner] = [reader(1n, 1), reader(2n, 2, connection)];
  const begunBefore = oracle.committing(partition, 0, before);
  oracle.given(partition, messages(1, 2), owner);
  begunBefore("accepted");
  oracle.committing(partition, 2, owner)("accepted");
  // Served by a node that is behind.
  oracle.given(partition, messages(0, 1), before);
  oracle.committing(partition, 1, before)("refused");
  const late = oracle.committing(partition, 1, before);
  assert.throws(() => late("accepted"), /takes a commit of 1, generation 1, while 2 owns it since 2/);
  connection.isThere = false;
  oracle.committing(partition, 1, before)("accepted");
});

test("at the end the offset is that of the last accepted commit", () => {
  const { partition, oracle } = fixture();
  const one = reader(1n, 1);
  oracle.finallyStored(partition, undefined);
  oracle.committing(partition, 3, one)("accepted");
  oracle.committing(partition, 5, one)("accepted");
  oracle.committing(partition, 9, one)("refused");
  for (const lost of [undefined, 3, 9]) {
    assert.throws(() => oracle.finallyStored(partition, lost), /keeps the group's offset: \S+ is one of 5$/);
  }
  oracle.finallyStored(partition, 5);
});

test("of commits at the same time each may be the last, and so may one of unknown outcome", () => {
  const { partition, oracle } = fixture();
  const unknown = oracle.committing(partition, 2, reader(1n, 1));
  unknown("unknown");
  const [one, other] = [4, 6].map((offset) => oracle.committing(partition, offset, reader(1n, 1)));
  other!("accepted");
  one!("accepted");
  for (const offset of [2, 4, 6]) oracle.finallyStored(partition, offset);
  for (const offset of [undefined, 5]) assert.throws(() => oracle.finallyStored(partition, offset));
});

test("a partition has one owner in a generation, and who joins is told of none that was over", () => {
  const { owners } = fixture().oracle;
  owners.assigned({ member: 1n, generation: 3, partitions: [0, 1] }, 0);
  owners.assigned({ member: 1n, generation: 3, partitions: [0, 1] }, 3);
  owners.assigned({ member: 2n, generation: 3, partitions: [2] }, owners.generation);
  assert.throws(
    () => owners.assigned({ member: 2n, generation: 3, partitions: [1, 2] }, 3),
    /partition 1 has one owner in generation 3/,
  );
  assert.throws(() => owners.assigned({ member: 2n, generation: 2, partitions: [] }, 3), /2 was over/);
});
