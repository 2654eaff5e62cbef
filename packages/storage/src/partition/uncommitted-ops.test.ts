import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { NO_OP_HEADER } from "../op-record/record.ts";
import type { OpEntry } from "./op-entry.ts";
import { UncommittedOps } from "./uncommitted-ops.ts";

function entry(op: number): OpEntry {
  const nothing = { batch: undefined, small: undefined, request: undefined };
  return { header: { ...NO_OP_HEADER, op }, generation: 0, endOffset: 0, done: () => {}, ...nothing };
}

const opsOf = (entries: Iterable<OpEntry>) => Array.from(entries, ({ header }) => header.op);

test("Ops leave at the front, and those above one that never were at the end.", () => {
  const random = new SeededRandom(5);
  const uncommitted = new UncommittedOps();
  let ops: number[] = [];
  let next = 1;
  for (let step = 0; step < 300; step += 1) {
    for (let more = random.below(40); more > 0; more -= 1) {
      uncommitted.push(entry(next));
      ops.push(next++);
    }
    for (let some = random.below(40); some > 0 && ops.length > 0; some -= 1) {
      uncommitted.dropFirst();
      ops.shift();
    }
    if (random.below(10) === 0) {
      const last = next - 1 - random.below(5);
      uncommitted.dropAbove(last);
      ops = ops.filter((op) => op <= last);
      next = Math.min(next, last + 1);
    }
    const half = (ops[0] ?? 0) + Math.floor(ops.length / 2);
    assert.deepEqual([uncommitted.count, uncommitted.first?.header.op], [ops.length, ops[0]]);
    assert.deepEqual(
      opsOf(uncommitted.upTo(half)),
      ops.slice(0, ops.length === 0 ? 0 : half - (ops[0] ?? 0) + 1),
    );
    assert.deepEqual(opsOf(uncommitted.newestFirst()), ops.toReversed());
  }
});

test("What was let go of is not held when very many come and go.", () => {
  const uncommitted = new UncommittedOps();
  uncommitted.push(entry(1));
  for (let op = 2; op < 10_000; op += 1) {
    uncommitted.push(entry(op));
    uncommitted.dropFirst();
    assert.equal(uncommitted.first?.header.op, op);
  }
  assert.deepEqual(opsOf(uncommitted.upTo(10_000)), [9_999]);
});
