import assert from "node:assert/strict";
import { test } from "node:test";
import type { Prepare } from "@millrace/vsr";
import { AppendLog, EMPTY_LOG } from "../node/append-log.ts";
import { checksumOf } from "../node/checksum-of.ts";
import type { GroupPlan } from "../seed-plan.ts";
import { GroupOracle } from "./group-oracle.ts";
import { Violation, type ViolationKind } from "./violation.ts";

const GROUP: GroupPlan = {
  group: 0,
  depth: 4,
  hasClientTable: true,
  clients: 1,
  window: 1,
  thinkMeanMicros: 1,
};

/** The ops of requests 1, 2, ... of one client, as one primary numbers them. */
function opsOf(...requests: number[]): Prepare[] {
  const prepares: Prepare[] = [];
  for (const request of requests) {
    const parent = prepares.at(-1)?.checksum ?? 0n;
    const asked = { client: 1n, session: 1, request: BigInt(request), operation: 160, user: 0, timestamp: 1 };
    const body = { message: request };
    const fields = { ...asked, body, bodyChecksum: 0n, view: 0, op: prepares.length + 1, parent };
    prepares.push({ ...fields, checksum: checksumOf(fields), replica: 0, commit: 0 });
  }
  return prepares;
}

/** An oracle that has seen replica 0 commit these ops, with journals of two replicas behind each. */
function oracleOf(prepares: readonly Prepare[]): { oracle: GroupOracle; log: AppendLog } {
  const oracle = new GroupOracle(3, GROUP);
  const log = new AppendLog(EMPTY_LOG);
  for (const prepare of prepares) {
    for (const replica of [0, 1]) oracle.onWritten(replica, prepare.checksum);
    oracle.onCommitted(0, prepare);
    oracle.onApplied(0, prepare.op, log.apply(prepare));
  }
  return { oracle, log };
}

function fails(kind: ViolationKind, act: () => void): void {
  assert.throws(act, (error) => error instanceof Violation && error.kind === kind);
}

test("replicas that apply the same ops at the same offsets, and answers and reads of them, are right", () => {
  const prepares = opsOf(1, 2, 3);
  const { oracle, log } = oracleOf(prepares);
  for (const [offset, prepare] of prepares.entries()) {
    oracle.onCommitted(1, prepare);
    oracle.onApplied(1, prepare.op, offset);
  }
  oracle.onAnswer(1n, 2n, 2, 1);
  oracle.onRead({ nextOffset: 2, offset: 1, message: 2 }, 2);
  oracle.onInstalled(2, log.snapshot());
  oracle.onEnd(2, log.snapshot());
  assert.equal(oracle.op, 3);
});

test("another op in a committed one's place is a divergence", () => {
  const { oracle } = oracleOf(opsOf(1, 2));
  const [, other] = opsOf(1, 3);
  fails("diverged", () => oracle.onCommitted(1, other as Prepare));
});

test("an op that fewer journals than a quorum have held is committed wrongly", () => {
  const oracle = new GroupOracle(3, GROUP);
  const [prepare] = opsOf(1);
  oracle.onWritten(0, prepare?.checksum ?? 0n);
  fails("quorum", () => oracle.onCommitted(0, prepare as Prepare));
});

test("a message at two offsets, or an answer for what is not there, is told", () => {
  const { oracle } = oracleOf(opsOf(1, 2));
  fails("offset", () => oracle.onApplied(1, 2, 2));
  fails("offset", () => oracle.onAnswer(1n, 2n, 2, 0));
  fails("lost", () => oracle.onAnswer(1n, 3n, 3, 2));
  fails("offset", () => oracle.onRead({ nextOffset: 2, offset: 0, message: 9 }, 1));
  fails("stale-read", () => oracle.onRead({ nextOffset: 1, offset: 0, message: 1 }, 2));
});

test("a request of a session that is executed twice is told; without sessions it may be repeated", () => {
  fails("twice", () => oracleOf(opsOf(1, 1)));
  const log = new AppendLog(EMPTY_LOG);
  assert.deepEqual(
    opsOf(1, 2, 1).map((prepare) => log.apply(prepare)),
    [0, 1, 0],
  );
});

test("a gap, a broken chain and a start with what nobody committed are told", () => {
  const [first, second] = opsOf(1, 2);
  fails("lost", () => new GroupOracle(3, GROUP).onCommitted(0, second as Prepare));
  fails("diverged", () => oracleOf([first as Prepare, opsOf(7, 2)[1] as Prepare]));
  fails("lost", () => new GroupOracle(3, GROUP).onReplayed(0, first as Prepare));
});

test("views, log views and commits that go back, and a pipeline that is too long, are told", () => {
  const { oracle } = oracleOf(opsOf(1, 2, 3));
  const now = { view: 4, logView: 3, op: 3, commit: 2 };
  oracle.onStep(1, now);
  for (const back of [{ view: 3 }, { logView: 2 }, { commit: 1 }]) {
    oracle.onStart(1, now);
    fails("backwards", () => oracle.onStep(1, { ...now, ...back }));
  }
  oracle.onSpoken(1, 4);
  oracle.onStart(1, { ...now, view: 0, logView: 0 });
  fails("backwards", () => oracle.onSpoken(1, 3));
  oracle.onStep(2, { ...now, op: 7 });
  oracle.onNumbered(2, 6, 2);
  fails("bound", () => oracle.onNumbered(2, 7, 2));
  fails("bound", () => oracle.onStep(2, { ...now, op: 130 }));
  fails("lost", () => oracle.onStep(2, { ...now, op: 5, commit: 4 }));
});

test("one view that gives an op two contents has two primaries, except where there is one replica", () => {
  const [first, other] = [opsOf(1)[0] as Prepare, opsOf(2)[0] as Prepare];
  const oracle = new GroupOracle(3, GROUP);
  oracle.onAccepted(0, first);
  oracle.onAccepted(1, first);
  oracle.onAccepted(1, { ...other, view: 1 });
  fails("two-primaries", () => oracle.onAccepted(2, other));
  const alone = new GroupOracle(1, GROUP);
  alone.onAccepted(0, first);
  alone.onAccepted(0, other);
});

test("a session ends by a Logout or a later Register of its client, and by nothing else", () => {
  const [first] = opsOf(1);
  const sessions = { request: 0n, operation: 1, op: 1 };
  const register = { ...(first as Prepare), ...sessions };
  const { oracle } = oracleOf([register]);
  fails("lost", () => oracle.onEvicted(1n, 1, 1));
  fails("lost", () => oracle.onEvicted(1n, 1, 7));
  const logout = { ...register, operation: 3, op: 2, parent: register.checksum, checksum: 9n };
  for (const replica of [0, 1]) oracle.onWritten(replica, 9n);
  oracle.onCommitted(0, logout);
  oracle.onEvicted(1n, 1, 1);
  fails("lost", () => oracle.onEvicted(1n, 1, 7));
});

test("a log, a state or an offset that differs at the end is told", () => {
  const { oracle, log } = oracleOf(opsOf(1, 2));
  const snapshot = log.snapshot();
  fails("diverged", () => oracle.onEnd(1, { ...snapshot, messages: [1, 3] }));
  fails("diverged", () => oracle.onEnd(1, { ...snapshot, messages: [1], nextOffset: 1 }));
  fails("diverged", () => oracle.onInstalled(1, { ...snapshot, checksum: 5n }));
  fails("offset", () => oracle.onInstalled(1, { ...snapshot, nextOffset: 3 }));
});
