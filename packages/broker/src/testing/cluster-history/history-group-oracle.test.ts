import assert from "node:assert/strict";
import { test } from "node:test";
import { GroupOracle, type Reader } from "./history-group-oracle.ts";
import { TopicOracle } from "./history-oracle.ts";

const reader = (member: bigint, generation: number): Reader => ({
  ...{ member, generation, nowMs: 0 },
  isConnected: () => true,
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
  oracle.committing(partition, 5);
  oracle.committed(partition, 1n);
  oracle.given(partition, messages(3, 5), reader(1n, 2));
  oracle.given(partition, messages(0, 5), reader(2n, 3));
  oracle.given(partition, messages(6, 7), reader(2n, 3));
  oracle.given(partition, messages(2, 2), reader(1n, 4));
  assert.throws(() => oracle.given(partition, messages(6, 6), reader(1n, 4)), /is 2's, not 1's/);
});
