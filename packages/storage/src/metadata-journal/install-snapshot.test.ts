import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { type CrashKeep, SimDisk } from "@millrace/platform/sim";
import type { MetadataJournal } from "./metadata-journal.ts";
import { openMetadataJournal } from "./open-metadata-journal.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

function open(disk: SimDisk): Promise<MetadataJournal> {
  return openMetadataJournal({ disk, path: "metadata", kernel, log: silentLog, role: "exclusive" });
}

function append(journal: MetadataJournal, view = 1): Promise<void> {
  const op = journal.lastOp + 1;
  const facts = { client: 1n, request: 9n, user: 3, session: 5n, bodyChecksum: 6n, operation: 64 };
  const checksum = BigInt(op) * 77n + BigInt(view);
  const header = {
    op,
    view,
    parent: journal.lastOpChecksum,
    checksum,
    timestamp: op,
    commit: op - 1,
    ...facts,
  };
  return new Promise((resolve, reject) => {
    journal.append(header, new Uint8Array(3), (error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** Ten ops, a snapshot of the fourth after the eighth. */
async function filled(disk: SimDisk): Promise<MetadataJournal> {
  const journal = await open(disk);
  for (let at = 0; at < 8; at += 1) await append(journal);
  await journal.checkpoint(4, new Uint8Array(10));
  for (let at = 0; at < 2; at += 1) await append(journal);
  return journal;
}

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
