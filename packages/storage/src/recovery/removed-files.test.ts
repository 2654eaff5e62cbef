import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, name, PATH } from "../partition/partition-fixture.test.ts";

/** Turns of the event loop within which a removal comes to its end on this disk. */
const TURNS_MAX = 50;

interface Removal {
  readonly bench: Bench;
  /** First offsets of the segments that go. */
  readonly doomed: readonly number[];
}

/** Sealed segments that power loss leaves, then what takes them away, some turns long. */
async function removing(seed: number, turns: number, how: "truncate" | "purge"): Promise<Removal> {
  const disk = new SimDisk({ seed });
  const bench = await Bench.open({ segmentLengthMax: 2000, tailLengthMax: 0, disk, durability: "persisted" });
  await syncUpwards(disk, PATH);
  for (let at = 0; at < 30; at += 1) await bench.append([`message ${at}`]);
  const sealed = bench.partition.sealedSegments();
  const mark = sealed[2]?.firstOffset ?? 0;
  const doomed = sealed.map(({ firstOffset }) => firstOffset).filter((one) => how === "purge" || one < mark);
  await (how === "purge" ? bench.purge() : bench.truncate(mark));
  for (let turn = 0; turn < turns; turn += 1)
    await new Promise((resolve) => queueMicrotask(() => resolve(0)));
  bench.disk = bench.disk.crash();
  await bench.abandon();
  return { bench, doomed };
}

describe("a removal that power loss cuts short", () => {
  for (const how of ["truncate", "purge"] as const) {
    it(`(${how}) leaves no messages without the records that say whose they are`, async () => {
      let halfDone = 0;
      for (let turns = 0; turns < TURNS_MAX; turns += 1) {
        for (let seed = 1; seed <= 2; seed += 1) {
          const { bench, doomed } = await removing(seed, turns, how);
          const names = new Set(await bench.fileNames());
          for (const first of doomed) {
            const [hasLog, hasOps] = [names.has(name(first, "log")), names.has(name(first, "ops"))];
            assert.ok(!hasLog || hasOps, `turn ${turns}, seed ${seed}: ${name(first, "log")} is alone`);
            if (hasOps && !hasLog) halfDone += 1;
          }
          await bench.open();
          await bench.partition.filesRemoved();
          const left = await bench.fileNames();
          for (const first of doomed)
            assert.ok(!left.includes(name(first, "ops")), "the next start removes it");
          await bench.close();
        }
      }
      assert.ok(halfDone > 0, "some removals were under way");
    });
  }
});
