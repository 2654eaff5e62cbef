import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { faultAt, SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, name, PATH } from "./partition-fixture.test.ts";

/** A record of a truncation or a purge. */
const RECORD_LENGTH = 136;
const isFull = (error: unknown) => isCodedError(error, ErrorCode.DiskFull);

async function usedLength(disk: SimDisk, path = ""): Promise<number> {
  let sum = 0;
  for (const { name: entry, kind } of await disk.readDirectory(path)) {
    const below = path === "" ? entry : `${path}/${entry}`;
    sum += kind === "directory" ? await usedLength(disk, below) : ((await disk.stat(below))?.length ?? 0);
  }
  return sum;
}

/** Twenty messages in several segments on a disk with `room` bytes left, found full by an append. */
async function filled(room: number, durability: "persisted" | "replicated" = "replicated"): Promise<Bench> {
  const disk = new SimDisk({ seed: 5 });
  const bench = await Bench.open({ segmentLengthMax: 2000, tailLengthMax: 0, disk, durability });
  await syncUpwards(disk, PATH);
  for (let at = 0; at < 20; at += 1) await bench.append([`message ${at}`.padEnd(150, ".")]);
  disk.setSpace((await usedLength(disk)) + room);
  await assert.rejects(bench.append(["too long".repeat(100)]), isFull);
  return bench;
}

async function oldFiles(bench: Bench): Promise<string[]> {
  await bench.partition.filesRemoved();
  return (await bench.fileNames()).filter((file) => !file.includes(".g1."));
}

describe("a removal on a full disk", () => {
  it("truncates when its record fits, and makes room", async () => {
    const bench = await filled(RECORD_LENGTH);
    const mark = bench.partition.sealedSegments()[1]?.firstOffset ?? 0;
    await assert.rejects(bench.truncate(mark), isFull);
    assert.equal(await bench.partition.resume(), false, "for everything else there is no space");
    assert.equal(await bench.partition.resume(true), true);
    await bench.truncate(mark);
    await bench.partition.filesRemoved();
    assert.equal(bench.partition.firstOffset, mark);
    assert.ok(!(await bench.fileNames()).includes(name(0, "log")));
    assert.equal(await bench.append(["there is room again"]), 20);
    await bench.kill();
    assert.equal((await bench.readAll()).length, 21 - mark);
    await bench.close();
  });

  it("is refused like everything else when not even its record fits, and takes nothing away", async () => {
    const bench = await filled(0);
    assert.equal(await bench.partition.resume(true), true);
    await assert.rejects(bench.purge(), isFull);
    assert.equal(bench.partition.purgeGeneration, 0);
    assert.equal((await bench.readAll()).length, 20);
    await bench.close();
  });

  it("purges without room for the next segment, and begins that with what it freed", async () => {
    const bench = await filled(RECORD_LENGTH);
    await bench.partition.resume(true);
    await bench.purge();
    assert.deepEqual(await bench.readAll(), []);
    assert.ok(isFull(bench.partition.fault));
    assert.equal((await oldFiles(bench)).filter((file) => file.endsWith(".log")).length, 1);
    assert.equal(await bench.partition.resume(true), true);
    assert.deepEqual(await oldFiles(bench), []);
    assert.equal(await bench.append(["first of the new ones"]), 0);
    await bench.kill();
    assert.deepEqual(await bench.readAll(), [{ offset: 0, text: "first of the new ones" }]);
    await bench.close();
  });

  for (const [durability, end] of [
    ["replicated", "kill"],
    ["persisted", "crash"],
  ] as const) {
    it(`stays done after a ${end} before the next segment began (${durability})`, async () => {
      const bench = await filled(RECORD_LENGTH, durability);
      await bench.partition.resume(true);
      await bench.purge();
      await bench.partition.filesRemoved();
      bench.disk = bench.disk[end]();
      await bench.abandon();
      bench.lines.length = 0;
      bench.disk.setSpace(Number.POSITIVE_INFINITY);
      await bench.open();
      assert.deepEqual(await bench.readAll(), []);
      assert.deepEqual(await oldFiles(bench), []);
      assert.deepEqual(
        bench.lines.filter(({ level }) => level === "error"),
        [],
        "what was taken away is not missing",
      );
      assert.equal(await bench.append(["first of the new ones"]), 0);
      await bench.close();
    });
  }
});

describe("a datasync that a full disk refuses while a segment is left", () => {
  it("fences the partition like any other", async () => {
    for (const end of ["log", "ops"]) {
      const bench = await Bench.open({ segmentLengthMax: 1000, offsetDurability: "persisted" });
      await bench.append(["fills the segment".padEnd(1000, ".")]);
      const isSync = ({ kind, path }: { kind: string; path: string }) =>
        kind === "datasync" && path.endsWith(`0.${end}`);
      bench.disk.setFaults(faultAt(0, isSync, { kind: "error", errno: "ENOSPC" }));
      await assert.rejects(bench.append(["next"]), (error) => isCodedError(error, ErrorCode.FileFenced));
      assert.equal(await bench.partition.resume(true), false);
      await bench.close();
    }
  });
});
