import assert from "node:assert/strict";
import { test } from "node:test";
import { Violation, type ViolationKind } from "../oracle/violation.ts";
import { PartitionLedger, SentNumbers } from "./partition-ledger.ts";
import { payloadOf } from "./sim-content.ts";

const LENGTHS = [10, 20];

/** A ledger with two acknowledged batches of two messages: numbers 0..3 at offsets 0..3. */
function ledgerOfTwo() {
  const ledger = new PartitionLedger("t/0", new SentNumbers(), false);
  const batches = [ledger.send(LENGTHS), ledger.send(LENGTHS)];
  for (const [index, batch] of batches.entries()) ledger.acknowledge(batch, 2 * index);
  return { ledger, batches };
}

/** Reads these numbers at their own offsets, or at others, and ends the read. */
function read(ledger: PartitionLedger, numbers: readonly number[], damaged: readonly number[] = []): void {
  ledger.beginRead();
  for (const number of numbers) {
    ledger.see({ offset: number, number, payload: payloadOf(number, LENGTHS[number % 2] ?? 0) });
    ledger.count(number);
  }
  ledger.endRead(damaged);
}

const breaks = (kind: ViolationKind) => (error: unknown) => error instanceof Violation && error.kind === kind;

test("what is read back whole is no violation, and what is gone, moved, altered or made up is one", () => {
  read(ledgerOfTwo().ledger, [0, 1, 2, 3]);
  assert.throws(() => read(ledgerOfTwo().ledger, [0, 1]), breaks("lost"));
  assert.throws(() => read(ledgerOfTwo().ledger, [0, 1, 2]), breaks("lost"));
  const { ledger } = ledgerOfTwo();
  const payload = payloadOf(0, 10);
  assert.throws(() => ledger.see({ offset: 4, number: 0, payload }), breaks("moved"));
  assert.throws(() => ledger.see({ offset: 0, number: 0, payload: payloadOf(1, 10) }), breaks("altered"));
  assert.throws(() => ledger.see({ offset: 0, number: 99, payload }), breaks("never-sent"));
});

test("an offset is given once, and what a full read did not show does not come back", () => {
  const { ledger } = ledgerOfTwo();
  const late = ledger.send(LENGTHS);
  assert.throws(() => ledger.acknowledge(late, 2), breaks("reused"));
  ledger.loseAnswer(late);
  read(ledger, [0, 1, 2, 3]);
  assert.throws(() => ledger.see({ offset: 4, number: 4, payload: payloadOf(4, 10) }), breaks("returned"));
});

test("the code of damage is an answer where something was harmed, and emptiness never is", () => {
  assert.throws(() => read(ledgerOfTwo().ledger, [0, 1], [2]), breaks("lost"));
  const harmed = ledgerOfTwo().ledger;
  harmed.harm();
  read(harmed, [0, 1], [2]);
  assert.throws(() => read(harmed, [0, 1]), breaks("lost"));
});

test("a hole is what is missing behind what was read, and what nothing explains", () => {
  const { ledger } = ledgerOfTwo();
  const isHoledBy = (numbers: readonly number[], damaged: readonly number[] = []) => {
    ledger.beginRead();
    for (const number of numbers) ledger.count(number);
    return ledger.isHoled(damaged);
  };
  assert.deepEqual([isHoledBy([0, 1, 2, 3]), isHoledBy([2, 3]), isHoledBy([])], [false, false, false]);
  assert.deepEqual([isHoledBy([0, 1]), isHoledBy([0, 1, 2]), isHoledBy([0, 1], [2])], [true, true, true]);
  ledger.harm();
  assert.equal(isHoledBy([0, 1], [2]), false);
});

test("power loss takes what is not protected, and nothing that stands before something persisted", () => {
  const { ledger, batches } = ledgerOfTwo();
  const [first] = batches;
  if (first !== undefined) first.isSafe = true;
  ledger.losePower();
  read(ledger, [0, 1]);
  ledger.losePower();
  assert.throws(() => read(ledger, []), breaks("lost"));
});

test("what a deletion took comes back with power loss only where nothing of the topic is persisted", () => {
  for (const isTrimSafe of [true, false]) {
    const { ledger } = ledgerOfTwo();
    ledger.allowTrim(1, 1_000_000);
    read(ledger, [2, 3]);
    ledger.losePower(isTrimSafe);
    if (isTrimSafe) assert.throws(() => read(ledger, [0, 1, 2, 3]), breaks("returned"));
    else read(ledger, [0, 1, 2, 3]);
  }
});

test("what power loss may have taken is not taken by a deletion: it may come back where it was", () => {
  const { ledger } = ledgerOfTwo();
  ledger.losePower();
  ledger.allowTrim(1, 1_000_000);
  read(ledger, []);
  read(ledger, [0, 1, 2, 3]);
});

test("a purge whose outcome damage hides is judged once something shows it", () => {
  const { ledger } = ledgerOfTwo();
  ledger.harm();
  ledger.allowPurge();
  assert.ok(!ledger.provesPurge(4), "the end of what is known proves nothing");
  read(ledger, [], [0]);
  assert.throws(() => read(ledger, [0, 1]), breaks("lost"), "what is not purged is there as a whole");
  assert.ok(ledger.provesPurge(2));
  ledger.purge();
  assert.throws(() => read(ledger, [0, 1]), breaks("returned"));
});
