import assert from "node:assert/strict";
import { test } from "node:test";
import type { Output } from "../output.ts";
import { Replica } from "../replica.ts";

const checksumOf = ({ op }: { readonly op: number }) => BigInt(op);

function newReplica(index: number): Replica {
  return new Replica({
    ...{ replica: index, replicaCount: 3, cluster: 0n, prepareQueueDepth: 4 },
    recovered: { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n, isNew: true },
    checksumOf,
  });
}

/** The primary of view 0 numbers op `op`. */
function prepare(replica: Replica, op: number, commit = 0): readonly Output[] {
  const whose = { client: 0n, session: 0, request: 0n, user: 0, replica: 0 };
  const what = { operation: 160, timestamp: op, body: op, bodyChecksum: 0n };
  const place = { view: 0, op, commit, parent: BigInt(op - 1), checksum: BigInt(op) };
  const message = { kind: "prepare", view: 0, prepare: { ...whose, ...what, ...place } } as const;
  return replica.step({ kind: "message", from: 0, message });
}

/** A backup with ops 1 and 2, of which the first is committed. */
function backup(): Replica {
  const replica = newReplica(1);
  for (const op of [1, 2]) {
    prepare(replica, op, op - 1);
    replica.step({ kind: "journal-written", op, checksum: BigInt(op) });
  }
  assert.deepEqual([replica.op, replica.commit], [2, 1]);
  return replica;
}

const kindsOf = (outputs: readonly Output[]) =>
  outputs.map((one) => (one.kind === "send" ? one.message.kind : one.kind));

test("a backup fetches a state that reaches as far as its log, and takes nothing new until it is there", () => {
  const replica = backup();
  assert.deepEqual(replica.step({ kind: "refetch" }), [{ kind: "request-state", from: 0, op: 2 }]);
  assert.deepEqual(replica.step({ kind: "refetch" }), [], "it does so already");
  assert.deepEqual(kindsOf(prepare(replica, 3, 1)), [], "op 3 is not written");
  assert.deepEqual(kindsOf(prepare(replica, 2, 1)), ["prepareOk"], "what it has it acknowledges again");
  replica.step({ kind: "state-replacing" });
  replica.step({ kind: "state-installed", op: 3, checksum: 3n });
  assert.deepEqual([replica.op, replica.commit, replica.stateAwaited], [3, 3, undefined]);
  assert.deepEqual(kindsOf(prepare(replica, 4, 3)), ["journal-write"]);
});

for (const isReplacing of [false, true]) {
  test(`another view ends that, unless the state is being put in place: ${isReplacing}`, () => {
    const replica = backup();
    replica.step({ kind: "refetch" });
    if (isReplacing) replica.step({ kind: "state-replacing" });
    const header = {
      ...{ view: 0, op: 2, parent: 1n, checksum: 2n },
      ...{ client: 0n, session: 0, request: 0n },
    };
    const rest = { user: 0, operation: 160, timestamp: 2, bodyChecksum: 0n, replica: 0, commit: 0 };
    const log = { op: 2, commit: 1, commitChecksum: 1n, headers: [{ ...header, ...rest }] };
    const message = { kind: "startView", view: 2, nonce: 0, replica: 2, ...log } as const;
    replica.step({ kind: "message", from: 2, message });
    assert.equal(replica.view, 2);
    assert.equal(replica.stateAwaited, isReplacing ? 2 : undefined);
  });
}

test("who has no room for the state, or finds no good one, goes on with its log and takes what is new", () => {
  const replica = backup();
  replica.step({ kind: "refetch" });
  replica.step({ kind: "state-replacing" });
  replica.step({ kind: "state-refused" });
  assert.equal(replica.stateAwaited, undefined);
  assert.deepEqual(kindsOf(prepare(replica, 3, 1)), ["journal-write"]);
  assert.deepEqual(replica.step({ kind: "journal-written", op: 3, checksum: 3n }).length, 1);
  assert.deepEqual(replica.step({ kind: "refetch" }), [{ kind: "request-state", from: 0, op: 3 }]);
});

test("who lacks a part of the log waits on when there is no room for the state", () => {
  const replica = needing();
  replica.step({ kind: "state-replacing" });
  assert.deepEqual(replica.step({ kind: "state-refused" }), []);
  assert.equal(replica.stateAwaited, 5);
});

test("a primary fetches nothing; told to, it lets another lead", () => {
  const replica = newReplica(0);
  assert.deepEqual(replica.step({ kind: "refetch" }), []);
  assert.deepEqual(replica.step({ kind: "yield", to: 0 }), [], "not to itself");
  const outputs = replica.step({ kind: "yield", to: 2 });
  assert.deepEqual([replica.view, replica.isPrimary], [2, false]);
  assert.ok(kindsOf(outputs).includes("startViewChange"));
});

/** It was in view 3, of which node 0 is the primary, and cannot read its journal. */
function needing(): Replica {
  const lost = { view: 3, logView: 0, mayHaveLost: true, op: 0, commit: 0, checksum: 0n };
  return new Replica({
    ...{ replica: 1, replicaCount: 3, cluster: 0n, prepareQueueDepth: 4 },
    recovered: { ...lost, stateNeeded: 5 },
    checksumOf,
  });
}

test("who cannot read its journal takes of its view only the answer to its own request, then asks for a state", () => {
  const replica = needing();
  const [asked] = replica.step({ kind: "tick" });
  assert.ok(asked?.kind === "send" && asked.message.kind === "requestStartView");
  const told = (nonce: number, op: number) => {
    const log = { op, commit: op, commitChecksum: BigInt(op), headers: [] };
    const message = { kind: "startView", view: 3, nonce, replica: 0, ...log } as const;
    return replica.step({ kind: "message", from: 0, message });
  };
  assert.deepEqual(told(0, 9), [], "what was said before may end before what it acknowledged");
  assert.deepEqual(told(asked.message.nonce, 4), [], "nor may a log lack what was committed here");
  assert.deepEqual(told(asked.message.nonce, 9), [{ kind: "request-state", from: 0, op: 5 }]);
  assert.notEqual(replica.status, "normal");
});

/** It has asked in vain, and asks for the next view. */
function unanswered(index: number): Replica {
  const lost = { view: 3, logView: 0, mayHaveLost: true, op: 0, commit: 0, checksum: 0n };
  const replica = new Replica({
    ...{ replica: index, replicaCount: 3, cluster: 0n, prepareQueueDepth: 4 },
    recovered: { ...lost, stateNeeded: 5 },
    checksumOf,
  });
  let told = "";
  for (let ticks = 0; !told.includes("startViewChange"); ticks += 1) {
    assert.ok(ticks < 10_000, "nobody answers");
    told += kindsOf(replica.step({ kind: "tick" })).join();
  }
  assert.deepEqual([replica.status, replica.view], ["recovering", 3]);
  return replica;
}

test("nor when nobody answers: what was said of the view before may come late", () => {
  const replica = unanswered(1);
  const log = { op: 6, commit: 6, commitChecksum: 6n, headers: [] };
  const late = { kind: "startView", view: 3, nonce: 0, replica: 0, ...log } as const;
  assert.deepEqual(replica.step({ kind: "message", from: 0, message: late }), []);
  const other = { kind: "startViewChange", view: 3, replica: 2, agreed: true } as const;
  replica.step({ kind: "message", from: 2, message: other });
  assert.equal(replica.status, "recovering", "nor does it vote in a view that it may have been in");
});

test("nor does it begin a view anew that it may have led before", () => {
  const replica = unanswered(0);
  const log = { logView: 2, op: 6, commit: 6, commitChecksum: 6n, headers: [], mayHaveLost: false };
  for (const from of [1, 2]) {
    const late = { kind: "doViewChange", view: 3, replica: from, ...log } as const;
    assert.deepEqual(replica.step({ kind: "message", from, message: late }), []);
  }
  assert.equal(replica.status, "recovering");
});
