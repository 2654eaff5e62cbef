import assert from "node:assert/strict";
import { it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { MachineRun } from "./machine-run.ts";

const FOLDER = "metadata";

async function emptyDisk(): Promise<SimDisk> {
  const disk = new SimDisk();
  await disk.makeDirectory(FOLDER);
  await disk.syncDirectory("");
  return disk;
}

/** What starts in these runs of the machine, one after the other, find. */
async function notesOf(bootIds: readonly string[]): Promise<boolean[]> {
  const disk = await emptyDisk();
  const areOthers: boolean[] = [];
  for (const bootId of bootIds) {
    const run = await MachineRun.read(disk, FOLDER, bootId);
    areOthers.push(run.isAnother);
    await run.note();
  }
  return areOthers;
}

it("A run of the machine is another one until it is noted, and so is one without a name, always.", async () => {
  assert.deepEqual(await notesOf(["a", "a", "b", "b", "a"]), [true, false, true, false, true]);
  assert.deepEqual(await notesOf(["", "", "a", "", ""]), [true, true, true, true, true]);
});

it("A run that is noted stays noted over a loss of power; one that was only looked at is not noted.", async () => {
  const disk = await emptyDisk();
  await MachineRun.read(disk, FOLDER, "a");
  const before = await MachineRun.read(disk, FOLDER, "a");
  assert.equal(before.isAnother, true);
  await before.note();
  assert.equal(before.isAnother, false);
  const after = disk.crash({ keep: "none" });
  assert.equal((await MachineRun.read(after, FOLDER, "a")).isAnother, false);
  assert.equal((await MachineRun.read(after, FOLDER, "b")).isAnother, true);
});

it("A note that cannot be read, or is no note, is one of another run, and is replaced.", async () => {
  const disk = await emptyDisk();
  await disk.writeWhole(`${FOLDER}/machine-run`, new Uint8Array(1000));
  const tooLong = await MachineRun.read(disk, FOLDER, "a");
  disk.setFaults(({ kind }) => (kind === "read" ? { kind: "error", errno: "EIO" } : undefined));
  const unreadable = await MachineRun.read(disk, FOLDER, "a");
  disk.setFaults(undefined);
  assert.deepEqual([tooLong.isAnother, unreadable.isAnother], [true, true]);
  await unreadable.note();
  assert.equal((await MachineRun.read(disk, FOLDER, "a")).isAnother, false);
});
