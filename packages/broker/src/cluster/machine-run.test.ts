import assert from "node:assert/strict";
import { it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { MachineRun } from "./machine-run.ts";

async function notesOf(disk: SimDisk, bootIds: readonly string[]): Promise<boolean[]> {
  const areOthers: boolean[] = [];
  for (const bootId of bootIds) {
    const run = await MachineRun.read(disk, "", bootId);
    areOthers.push(run.isAnother);
    await run.note();
  }
  return areOthers;
}

it("A run of the machine is another one until it is noted, and so is one without a name, always.", async () => {
  assert.deepEqual(await notesOf(new SimDisk(), ["a", "a", "b", "b", "a"]), [true, false, true, false, true]);
  assert.deepEqual(await notesOf(new SimDisk(), ["", "", "a", "", ""]), [true, true, true, true, true]);
});

it("A node that may have lost its note of the run takes it for another one.", async () => {
  const disk = new SimDisk();
  await MachineRun.read(disk, "", "a");
  const { isAnother } = await MachineRun.read(disk.crash({ keep: "none" }), "", "a");
  assert.equal(isAnother, true);
});
