import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { isLinearizable, type Model, type TimedOperation } from "./linearizable.ts";
import { isRegisterHistory, type RegisterOperation } from "./register.ts";

const OPEN = Number.POSITIVE_INFINITY;

const write = (value: number, callMs: number, returnMs: number): RegisterOperation => ({
  action: { kind: "write", value },
  callMs,
  returnMs,
});
const read = (value: number, callMs: number, returnMs: number): RegisterOperation => ({
  action: { kind: "read", value },
  callMs,
  returnMs,
});

/** A register without the shortcut for open writes, as the model of its own definition. */
const PLAIN: Model<number, RegisterOperation["action"]> = {
  initial: 0,
  step: (state, { kind, value }) => (kind === "write" || state === value ? value : undefined),
  keyOf: String,
};

/** Tries every order: right by its shortness, and slow. */
function isLinearizableByBruteForce(left: readonly RegisterOperation[], state = 0): boolean {
  const must = left.filter(({ returnMs }) => returnMs < OPEN);
  if (must.length === 0) return true;
  const nextReturnMs = Math.min(...must.map(({ returnMs }) => returnMs));
  return left.some((operation) => {
    if (operation.callMs > nextReturnMs) return false;
    const after = PLAIN.step(state, operation.action);
    if (after === undefined) return false;
    return isLinearizableByBruteForce(
      left.filter((other) => other !== operation),
      after,
    );
  });
}

describe("A history of a register is linearizable", () => {
  const good: Record<string, RegisterOperation[]> = {
    "when it is empty": [],
    "when one thing happens after the other": [read(0, 0, 1), write(1, 2, 3), read(1, 4, 5)],
    "when a read overlaps the write it does not see": [write(1, 0, 10), read(0, 2, 4), read(1, 6, 8)],
    "when overlapping writes are seen in one order": [write(1, 0, 9), write(2, 0, 9), read(2, 10, 11)],
    "when overlapping writes are seen in the other": [write(1, 0, 9), write(2, 0, 9), read(1, 10, 11)],
    "when a write without an answer is seen late": [write(1, 0, OPEN), read(0, 5, 6), read(1, 90, 91)],
    "when a write without an answer is never seen": [write(1, 0, OPEN), write(2, 1, 2), read(2, 5, 6)],
    "when an open write takes effect between two reads": [
      write(1, 0, 1),
      write(2, 2, OPEN),
      read(1, 3, 4),
      write(3, 5, 6),
      read(2, 7, 8),
    ],
  };
  for (const [when, history] of Object.entries(good))
    it(when, () => assert.equal(isRegisterHistory(history), true));
});

describe("A history of a register is not linearizable", () => {
  const bad: Record<string, RegisterOperation[]> = {
    "when a read is stale": [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)],
    "when an acknowledged write is lost": [write(1, 0, 1), read(0, 2, 3)],
    "when a value is read that nobody wrote": [write(1, 0, 1), read(7, 2, 3)],
    "when a value is read before it is written": [read(1, 0, 1), write(1, 2, 3)],
    "when reads go back": [write(1, 0, 9), write(2, 0, 9), read(1, 10, 11), read(2, 12, 13), read(1, 14, 15)],
    "when two readers see overlapping writes in two orders": [
      write(1, 0, 9),
      write(2, 0, 9),
      read(1, 10, 11),
      read(2, 12, 13),
      read(1, 14, 15),
    ],
    "when an open write takes effect twice": [
      write(1, 0, OPEN),
      read(1, 1, 2),
      write(2, 3, 4),
      read(2, 5, 6),
      read(1, 7, 8),
    ],
    "when an open write is read before it is called": [read(1, 0, 1), write(1, 2, OPEN)],
  };
  for (const [when, history] of Object.entries(bad))
    it(when, () => assert.equal(isRegisterHistory(history), false));
});

/** A small history of concurrent clients, mostly what a register could do, with some answers made up. */
function randomHistory(random: SeededRandom): RegisterOperation[] {
  const operations: RegisterOperation[] = [];
  let value = 0;
  for (let at = 0; at < 7; at += 1) {
    const callMs = random.below(20);
    const isOpen = random.below(5) === 0;
    const returnMs = callMs + 1 + random.below(8);
    if (random.below(2) === 0) {
      value += 1;
      operations.push(write(value, callMs, isOpen ? OPEN : returnMs));
    } else operations.push(read(random.below(value + 1), callMs, returnMs));
  }
  return operations;
}

describe("The search", () => {
  it("agrees with trying every order, on thousands of small histories", () => {
    const random = new SeededRandom(20);
    const counts = { true: 0, false: 0 };
    for (let round = 0; round < 5000; round += 1) {
      const history = randomHistory(random);
      const expected = isLinearizableByBruteForce(history);
      counts[`${expected}`] += 1;
      const text = JSON.stringify(history);
      assert.equal(isRegisterHistory(history), expected, text);
      const byCall = [...history].sort((one, other) => one.callMs - other.callMs);
      assert.equal(isLinearizable(byCall, PLAIN), expected, text);
    }
    assert.ok(counts.true > 500 && counts.false > 500, "both kinds were met");
  });

  it("comes to an end soon with thousands of operations and many open writes", () => {
    const random = new SeededRandom(7);
    const history: TimedOperation<RegisterOperation["action"]>[] = [];
    let value = 0;
    for (let ms = 0; history.length < 4000; ms += 3) {
      if (random.below(3) > 0) history.push(read(value, ms, ms + 1));
      else {
        value += 1;
        history.push(write(value, ms, random.below(4) === 0 ? OPEN : ms + 2));
        history.push(read(value, ms + 1, ms + 2));
      }
    }
    assert.equal(isRegisterHistory(history), true);
    history.push(read(value - 1, 1e6, 1e6 + 1));
    assert.equal(isRegisterHistory(history), false);
  });
});
