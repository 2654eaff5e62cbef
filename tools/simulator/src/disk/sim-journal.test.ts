import assert from "node:assert/strict";
import { test } from "node:test";
import type { Prepare } from "@millrace/vsr";
import { Chance } from "../engine/chance.ts";
import { EventQueue } from "../engine/event-queue.ts";
import type { CrashKind, Durability } from "./crash-kind.ts";
import { Device } from "./device.ts";
import { SimJournal } from "./sim-journal.ts";

const EMPTY = { op: 0, checksum: 0n };

function prepareOf(op: number, variant = 0): Prepare {
  const checksum = BigInt(op * 100 + variant);
  const fixed = { client: 1n, session: 0, operation: 160, user: 0, timestamp: 0, body: {}, bodyChecksum: 0n };
  const chain = { view: 0, op, parent: 0n, checksum, replica: 0, commit: 0 };
  return { ...fixed, request: BigInt(op), ...chain };
}

function journalOf(durability: Durability, seed: number) {
  const queue = new EventQueue();
  const device = new Device(queue, new Chance(seed), { writeMeanMicros: 100, syncMeanMicros: 1000 });
  return { queue, journal: new SimJournal(device, durability, 50_000) };
}

/** Appends ten ops and crashes some time later. What was reported, and what a start finds. */
function crashed(durability: Durability, kind: CrashKind, seed: number) {
  const { queue, journal } = journalOf(durability, seed);
  const reported: number[] = [];
  for (let op = 1; op <= 10; op += 1) journal.append(prepareOf(op), () => reported.push(op));
  queue.runUntil(200 * (seed % 20));
  journal.crash(kind);
  const found = journal.open(EMPTY);
  queue.runUntil(10_000_000);
  return { reported, found };
}

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

test("writes are reported in order, and a kill loses nothing that was reported", () => {
  for (const durability of ["replicated", "persisted"] as const) {
    const runs = SEEDS.map((seed) => crashed(durability, "kill", seed));
    for (const { reported, found } of runs) {
      assert.deepEqual(
        reported,
        reported.map((_, index) => index + 1),
      );
      assert.ok(found.op >= reported.length && !found.hasLost);
    }
    assert.ok(runs.some(({ reported, found }) => found.op > reported.length && found.op < 10));
  }
});

test("a power loss loses what was not synced, and the journal knows when that had been reported", () => {
  const persisted = SEEDS.map((seed) => crashed("persisted", "power", seed));
  assert.ok(persisted.every(({ reported, found }) => found.op >= reported.length && !found.hasLost));
  const replicated = SEEDS.map((seed) => crashed("replicated", "power", seed));
  for (const { reported, found } of replicated) assert.equal(found.hasLost, found.op < reported.length);
  assert.ok(replicated.some(({ found }) => found.hasLost));
});

test("data that a kill left unsynced is lost by a later power loss, and a persisted start syncs it first", () => {
  for (const durability of ["replicated", "persisted"] as const) {
    const ends = SEEDS.map((seed) => {
      const { queue, journal } = journalOf(durability, seed);
      for (let op = 1; op <= 5; op += 1) journal.append(prepareOf(op), () => {});
      queue.runUntil(2000);
      journal.crash("kill");
      const { op } = journal.open(EMPTY);
      journal.crash("power");
      const after = journal.open(EMPTY);
      assert.equal(after.hasLost, after.op < op);
      return op - after.op;
    });
    assert.equal(
      ends.some((lost) => lost > 0),
      durability === "replicated",
    );
  }
});

test("a cut is reported when it is synced; a power loss before that may bring back what was cut", () => {
  const variants = new Set<string>();
  for (const seed of SEEDS) {
    const { queue, journal } = journalOf("replicated", seed);
    for (let op = 1; op <= 3; op += 1) journal.append(prepareOf(op), () => {});
    queue.runUntil(1_000_000);
    let isCut = false;
    journal.truncate(1, () => {
      isCut = true;
    });
    journal.append(prepareOf(2, 7), () => {});
    queue.runUntil(1_000_000 + 100 * (seed % 20));
    journal.crash("power");
    const checksums = journal.open(EMPTY).prepares.map(({ checksum }) => checksum);
    if (isCut) assert.ok(!checksums.includes(200n));
    variants.add(`${isCut} ${checksums.join(" ")}`);
  }
  assert.deepEqual([...variants].sort(), [
    "false 100",
    "false 100 200 300",
    "false 100 207",
    "true 100",
    "true 100 207",
  ]);
});

test("rot above the snapshot cuts the journal there, rot below it only what peers could still read", () => {
  for (const [snapshotOp, base, op] of [
    [2, 0, 3],
    [6, 4, 8],
  ] as const) {
    const { queue, journal } = journalOf("persisted", 1);
    for (let next = 1; next <= 8; next += 1) journal.append(prepareOf(next), () => {});
    queue.runUntil(1_000_000);
    assert.ok(journal.rot(4));
    assert.equal(journal.read(4), undefined);
    assert.equal(journal.read(5)?.op, 5);
    journal.crash("kill");
    const found = journal.open({ op: snapshotOp, checksum: BigInt(snapshotOp * 100) });
    assert.deepEqual([journal.base, found.op, found.hasLost], [base, op, op === 3]);
    assert.equal(journal.read(op)?.op, op);
  }
});

test("a journal lets go of what a snapshot covers, and begins anew behind one it does not reach", () => {
  const { queue, journal } = journalOf("persisted", 1);
  for (let next = 1; next <= 8; next += 1) journal.append(prepareOf(next), () => {});
  queue.runUntil(1_000_000);
  journal.trim(5);
  assert.deepEqual([journal.base, journal.baseChecksum, journal.op], [5, 500n, 8]);
  assert.ok(journal.hasWritten(5, 500n) && journal.hasWritten(6, 600n) && !journal.hasWritten(6, 601n));
  journal.crash("kill");
  const found = journal.open({ op: 20, checksum: 2000n });
  assert.deepEqual([found.op, found.checksum, found.prepares.length], [20, 2000n, 0]);
});
