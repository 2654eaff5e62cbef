import assert from "node:assert/strict";
import { test } from "node:test";
import { Replica } from "../replica.ts";

/** Replica 0 of three, restarted in view 1, whose log it never held in full, with op 1 committed. */
function restarted(): Replica {
  return new Replica({
    replica: 0,
    replicaCount: 3,
    cluster: 0n,
    prepareQueueDepth: 4,
    recovered: { view: 1, logView: 0, op: 1, commit: 1, checksum: 5n },
    checksumOf: ({ op }) => BigInt(op),
  });
}

function startView(op: number, commitChecksum: bigint, view = 1) {
  const message = {
    kind: "startView",
    view,
    op,
    commit: op,
    commitChecksum,
    headers: [],
    nonce: 0,
  } as const;
  return { kind: "message", from: 1, message } as const;
}

test("a startView from before what is committed here comes late and changes nothing", () => {
  const replica = restarted();
  assert.deepEqual(replica.step(startView(0, 0n)), []);
  assert.equal(replica.status, "recovering");
  assert.deepEqual(replica.step(startView(1, 5n)), [
    { kind: "persist-view", view: 1, logView: 1, mayHaveLost: false },
  ]);
  assert.deepEqual(replica.step({ kind: "view-persisted", view: 1, logView: 1 }), []);
  assert.equal(replica.status, "normal");
});

test("so does one of a later view, which this replica took part in before it ended without a note of it", () => {
  const replica = restarted();
  assert.deepEqual(replica.step(startView(0, 0n, 4)), []);
  assert.deepEqual([replica.status, replica.view], ["recovering", 1]);
  assert.deepEqual(replica.step(startView(1, 5n, 4)), [
    { kind: "persist-view", view: 4, logView: 4, mayHaveLost: false },
  ]);
});

test("a later view without what is committed here stops a replica that took part in the one before", () => {
  const replica = restarted();
  replica.step(startView(1, 5n));
  replica.step({ kind: "view-persisted", view: 1, logView: 1 });
  assert.throws(() => replica.step(startView(0, 0n, 4)), /in the log of every later view/);
});

test("a startView with another op where this replica has committed is a fork, and stops it", () => {
  assert.throws(() => restarted().step(startView(1, 6n)), /log of a view is the same/);
});

test("a startView whose headers do not reach from its commit to its op changes nothing", () => {
  const replica = restarted();
  const { message, ...rest } = startView(1, 5n);
  assert.deepEqual(replica.step({ ...rest, message: { ...message, op: 2 } }), []);
  assert.equal(replica.status, "recovering");
});
