import assert from "node:assert/strict";
import { test } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { messageFilesOf, removeNewest } from "./history-message-files.ts";

const FOLDER = "streams/0/topics/1/partitions/0-7";
const segment = (firstOffset: number, end = "") => `${FOLDER}/${String(firstOffset).padStart(20, "0")}${end}`;

async function diskWith(paths: readonly string[]): Promise<SimDisk> {
  const disk = new SimDisk();
  await disk.makeDirectory(FOLDER);
  for (const path of paths) await (await disk.openFile(path, "create")).close();
  return disk;
}

test("the newest segment goes with all its files: behind purges, then by offset", async () => {
  const kinds = (name: string) => ["log", "ops", "index"].map((kind) => `${name}.${kind}`);
  const disk = await diskWith([segment(0), segment(100), segment(7, ".g1")].flatMap(kinds));
  assert.equal(await removeNewest(disk, segment(0, ".log")), segment(7, ".g1"));
  assert.deepEqual(await messageFilesOf(disk), [segment(0, ".log"), segment(100, ".log")]);
  assert.equal(await removeNewest(disk, segment(0, ".log")), segment(100));
  assert.equal((await disk.readDirectory(FOLDER)).length, 3);
});

test("a segment of which one file is made is the newest: the one before keeps its files", async () => {
  for (const kind of ["log", "ops"]) {
    const disk = await diskWith([segment(0, ".log"), segment(0, ".ops"), segment(9, `.${kind}`)]);
    assert.equal(await removeNewest(disk, segment(9, ".log")), segment(9));
    assert.equal((await disk.readDirectory(FOLDER)).length, 2);
  }
  assert.equal(await removeNewest(await diskWith([]), segment(0, ".log")), undefined);
});
