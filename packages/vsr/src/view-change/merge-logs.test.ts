import assert from "node:assert/strict";
import { test } from "node:test";
import type { DoViewChange } from "../messages/do-view-change.ts";
import type { PrepareHeader } from "../prepare-header.ts";
import { quorums } from "../quorums.ts";
import { type MergeRules, mergeLogs } from "./merge-logs.ts";

/**
 * A log told by the views of its ops above the commit: the op's checksum is 100 times its view, plus the
 * op.
 */
function log(replica: number, logView: number, commit: number, views: readonly number[]): DoViewChange {
  const headers = views.map((view, index) => header(commit + 1 + index, view));
  const op = commit + views.length;
  const commitChecksum = BigInt(commit);
  return {
    kind: "doViewChange",
    view: 9,
    replica,
    logView,
    op,
    commit,
    commitChecksum,
    headers,
    mayHaveLost: false,
  };
}

function header(op: number, view: number): PrepareHeader {
  const request = { client: 0n, session: 0, request: 0n, operation: 160, user: 0, timestamp: 0 };
  const checksum = BigInt(100 * view + op);
  return { ...request, bodyChecksum: 0n, view, op, parent: 0n, checksum, replica: 0, commit: 0 };
}

function forgetful(one: DoViewChange): DoViewChange {
  return { ...one, mayHaveLost: true };
}

function rules(replicaCount: number, mutations = {}): MergeRules {
  const { replication, viewChange: nackQuorum } = quorums(replicaCount);
  return { replicaCount, nackQuorum, replication, mutations };
}

function endOf(logs: readonly DoViewChange[], replicaCount: number) {
  const merged = mergeLogs(logs, rules(replicaCount));
  return merged && [merged.source, merged.op, merged.commitKnown];
}

test("fewer logs than a view-change quorum merge to nothing", () => {
  assert.equal(endOf([log(0, 1, 4, [1])], 3), undefined);
  assert.equal(endOf([log(0, 1, 4, [1])], 2), undefined);
  assert.equal(endOf([log(0, 1, 4, [1]), log(1, 1, 4, [])], 4), undefined);
  const three = [0, 1, 2].map((replica) => log(replica, 1, 4, [1]));
  assert.equal(endOf(three, 6), undefined);
  assert.deepEqual(endOf([...three, log(3, 1, 4, [1])], 6), [0, 5, 4]);
});

test("the highest log view wins over a longer log, and among equals the longest", () => {
  assert.deepEqual(endOf([log(0, 1, 4, [1, 1, 1]), log(1, 2, 4, [1])], 3), [1, 5, 4]);
  assert.deepEqual(endOf([log(0, 2, 4, [1]), log(1, 2, 4, [1, 2])], 3), [1, 6, 4]);
});

test("of equal logs the first is taken", () => {
  assert.deepEqual(endOf([log(2, 2, 4, [1]), log(1, 2, 4, [1])], 3), [2, 5, 4]);
});

test("what anybody knows to be committed is committed", () => {
  assert.deepEqual(endOf([log(0, 2, 4, [1, 1]), log(1, 1, 5, [])], 3), [0, 6, 5]);
});

test("an op that a nack quorum never had goes, and what follows it", () => {
  const logs = [log(0, 2, 4, [1, 2, 2]), log(1, 2, 4, [1]), log(2, 2, 4, [1])];
  assert.deepEqual(endOf(logs, 3), [0, 5, 4]);
  assert.deepEqual(mergeLogs(logs, rules(3))?.headers.length, 1);
});

test("another op at the same place is a nack too", () => {
  const logs = [log(0, 3, 4, [3]), log(1, 2, 4, [2]), log(2, 2, 4, [2])];
  assert.deepEqual(endOf(logs, 3), [0, 4, 4]);
});

test("an op that one nack short of a quorum lack is kept", () => {
  assert.deepEqual(endOf([log(0, 2, 4, [2]), log(1, 2, 4, [])], 3), [0, 5, 4]);
  const five = [log(0, 2, 4, [2]), log(1, 2, 4, [2]), log(2, 2, 4, []), log(3, 2, 4, [])];
  assert.deepEqual(endOf(five, 5), [0, 5, 4]);
  assert.deepEqual(endOf([...five, log(4, 2, 4, [])], 5), [0, 4, 4]);
});

test("two replicas drop nothing, for the one that has an op gives no nack", () => {
  assert.deepEqual(endOf([log(0, 2, 4, [2]), log(1, 2, 4, [])], 2), [0, 5, 4]);
});

test("who may have lost ops gives no nack: the view waits for another log", () => {
  const logs = [log(0, 2, 4, []), forgetful(log(1, 2, 4, []))];
  assert.equal(endOf(logs, 3), undefined);
  assert.deepEqual(endOf([...logs, log(2, 2, 4, [2])], 3), [2, 5, 4]);
});

test("the log of one who may have lost ops is not taken while others can say what there was", () => {
  assert.deepEqual(endOf([forgetful(log(0, 5, 4, [])), log(1, 2, 4, [2]), log(2, 2, 4, [2])], 3), [1, 5, 4]);
});

test("when all have spoken and most may have lost ops, the best log that holds all that is committed is taken", () => {
  const logs = [forgetful(log(0, 5, 3, [])), forgetful(log(1, 4, 4, [4])), log(2, 2, 4, [])];
  assert.deepEqual(endOf(logs, 3), [1, 5, 4]);
});

test("of two replicas the one that lost nothing has all that is committed", () => {
  assert.deepEqual(endOf([forgetful(log(0, 5, 4, [])), log(1, 2, 4, [2, 2])], 2), [1, 6, 4]);
  assert.equal(endOf([log(1, 2, 4, [2, 2])], 2), undefined);
});

test("when most may have lost ops, a log that goes on where the best one ends is better", () => {
  const logs = [forgetful(log(0, 5, 4, [2])), forgetful(log(1, 2, 4, [2, 2])), log(2, 1, 4, [1, 1, 1])];
  assert.deepEqual(endOf(logs, 3), [1, 6, 4]);
});

test("a lost nack, planted, keeps a bare quorum from ever beginning a view", () => {
  const logs = [log(0, 2, 4, []), log(1, 2, 4, [])];
  assert.equal(mergeLogs(logs, rules(3, { loseNack: true })), undefined);
});
