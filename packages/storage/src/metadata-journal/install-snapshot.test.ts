import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CrashKeep, SimDisk } from "@millrace/platform/sim";
import { append, filled, open } from "./journal-fixture.test.ts";

function snapshotOf(op: number, opChecksum = 4711n) {
  return { op, opChecksum, view: 3, bytes: new Uint8Array(20) };
}

async function stateOf(disk: SimDisk): Promise<readonly (number | undefined)[]> {
  const journal = await open(disk);
  await append(journal, 4);
  const again = await open(disk.kill());
  return [again.snapshot?.op, again.lastOp, again.records.length];
}

describe("another replica's snapshot of the metadata", () => {
  it("takes the place of snapshot and journal, and ops follow it", async () => {
    for (const snapshot of [snapshotOf(500), snapshotOf(10), snapshotOf(10, 771n)]) {
      const disk = new SimDisk({ seed: 2 });
      const journal = await filled(disk);
      await journal.install(snapshot);
      assert.deepEqual([journal.lastOp, journal.lastOpChecksum], [snapshot.op, snapshot.opChecksum]);
      assert.equal(journal.recordsSinceSnapshot, 0);
      await append(journal, 4);
      const after = await open(disk.crash({ keep: "none" }));
      assert.deepEqual([after.snapshot?.op, after.lastOp], [snapshot.op, snapshot.op + 1]);
    }
  });

  it("is there or not, and ops follow what is there, when a kill or a loss of power interrupts it", async () => {
    for (const keep of ["kill", "none", "all", "random"] as const) {
      for (const snapshot of [snapshotOf(500), snapshotOf(10)]) {
        for (let calls = 0, isOver = false; !isOver; calls += 1) {
          const disk = new SimDisk({ seed: 2 + calls });
          const journal = await filled(disk);
          let left = calls;
          disk.setFaults(() => (left-- <= 0 ? { kind: "error", errno: "EIO" } : undefined));
          isOver = await journal.install(snapshot).then(
            () => true,
            () => false,
          );
          if (!isOver) await assert.rejects(append(journal));
          disk.setFaults(undefined);
          const state = await stateOf(ended(disk, keep));
          const isNew = state[0] === snapshot.op;
          assert.ok(isNew || !isOver);
          const before = [4, 11, 7];
          // The last op never was when the snapshot has another one there: it may be gone already.
          const cut = snapshot.op === 10 ? [4, 10, 6] : before;
          const expected = isNew ? [[snapshot.op, snapshot.op + 1, 1]] : [before, cut];
          assert.ok(
            expected.some((one) => one.join() === state.join()),
            `${keep} behind ${calls} calls: ${state}`,
          );
        }
      }
    }
  });
});

function ended(disk: SimDisk, how: CrashKeep | "kill"): SimDisk {
  const after = how === "kill" ? disk.kill() : disk.crash({ keep: how });
  after.setFaults(undefined);
  return after;
}
