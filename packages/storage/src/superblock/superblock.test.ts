import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel } from "@millrace/framing";
import { SimDisk } from "@millrace/platform/sim";
import { openSuperblock } from "./superblock.ts";
import { SUPERBLOCK_LENGTH } from "./superblock-record.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

async function written(count: number): Promise<SimDisk> {
  const disk = new SimDisk({ seed: 1 });
  await disk.makeDirectory("m");
  await disk.syncDirectory("");
  const superblock = await openSuperblock(disk, "m", kernel);
  for (let view = 1; view <= count; view += 1) {
    await superblock.write({ view, logView: view - 1, cluster: 2n ** 128n - 1n, replica: 2 });
  }
  return disk;
}

describe("the superblock pair", () => {
  it("gives back the newest record, also after power loss", async () => {
    const disk = (await written(5)).crash({ keep: "none" });
    const { record } = await openSuperblock(disk, "m", kernel);
    assert.deepEqual([record.sequence, record.view, record.logView, record.replica], [5, 5, 4, 2]);
    assert.equal(record.cluster, 2n ** 128n - 1n);
  });

  it("falls back to the older record when the newer one is damaged at any bit", async () => {
    const disk = await written(5);
    for (let bit = 0; bit < SUPERBLOCK_LENGTH * 8; bit += 5) {
      disk.flipBit("m/superblock.b", bit);
      assert.equal((await openSuperblock(disk, "m", kernel)).record.sequence, 4);
      disk.flipBit("m/superblock.b", bit);
    }
  });

  it("is in doubt while one of the two is damaged, until the next write mends it", async () => {
    const disk = await written(5);
    assert.equal((await openSuperblock(disk, "m", kernel)).isDoubtful, false);
    for (const file of ["a", "b"]) {
      disk.flipBit(`m/superblock.${file}`, 77);
      const superblock = await openSuperblock(disk, "m", kernel);
      assert.equal(superblock.isDoubtful, true, file);
      await superblock.write({ view: 9 });
      assert.equal(superblock.isDoubtful, false, file);
      assert.equal((await openSuperblock(disk, "m", kernel)).isDoubtful, false, file);
    }
  });

  it("is in doubt while one of the two is gone, until the next write makes it again", async () => {
    for (const file of ["a", "b"]) {
      const disk = await written(5);
      await disk.removeFile(`m/superblock.${file}`);
      const superblock = await openSuperblock(disk, "m", kernel);
      assert.equal(superblock.isDoubtful, true, file);
      await superblock.write({ view: 9 });
      assert.equal((await openSuperblock(disk, "m", kernel)).isDoubtful, false, file);
    }
  });

  it("is not in doubt when only one was ever written", async () => {
    assert.equal((await openSuperblock(await written(1), "m", kernel)).isDoubtful, false);
  });

  it("refuses when files are there and none is good", async () => {
    const disk = await written(1);
    disk.flipBit("m/superblock.b", 100);
    await assert.rejects(openSuperblock(disk, "m", kernel), (error) =>
      isCodedError(error, ErrorCode.MetadataDamaged),
    );
  });

  it("writes one record after the other, however many are asked for at once", async () => {
    const disk = await written(0);
    const superblock = await openSuperblock(disk, "m", kernel);
    await Promise.all([
      superblock.write({ view: 1 }),
      superblock.write({ logView: 1 }),
      superblock.write({ commit: 9 }),
    ]);
    const { record } = await openSuperblock(disk, "m", kernel);
    assert.deepEqual([record.sequence, record.view, record.logView, record.commit], [3, 1, 1, 9]);
  });
});
