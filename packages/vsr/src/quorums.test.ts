import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "@millrace/errors";
import { quorums, REPLICAS_MAX } from "./quorums.ts";

test("quorums of one to seven replicas are those of the specification", () => {
  const table = [1, 2, 3, 4, 5, 6, 7].map((replicaCount) => {
    const { replication, viewChange } = quorums(replicaCount);
    return [replicaCount, replication, viewChange];
  });
  assert.deepEqual(table, [
    [1, 1, 1],
    [2, 2, 2],
    [3, 2, 2],
    [4, 2, 3],
    [5, 3, 3],
    [6, 3, 4],
    [7, 3, 5],
  ]);
});

test("a replication quorum and a view-change quorum always share a replica", () => {
  for (let replicaCount = 1; replicaCount <= REPLICAS_MAX; replicaCount += 1) {
    const { replication, viewChange } = quorums(replicaCount);
    assert.ok(replication + viewChange > replicaCount, `${replicaCount} replicas`);
    assert.ok(viewChange <= replicaCount);
  }
});

test("a group has at least one and at most 32 replicas", () => {
  for (const replicaCount of [0, -1, 1.5, 33]) assert.throws(() => quorums(replicaCount), InvariantError);
});
