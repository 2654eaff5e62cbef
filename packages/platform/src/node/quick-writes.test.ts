import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { utf8 } from "@millrace/testkit";
import { readAt, written } from "../disk.compliance.ts";
import { NodeDisk } from "./node-disk.ts";
import { type QuickCalls, type QuickWriteOptions, quickWrites } from "./quick-writes.ts";

const root = await mkdtemp(join(tmpdir(), "millrace-quick-"));
after(() => rm(root, { recursive: true, force: true }));

/** Real calls that note which way each write took; a write at once takes as long as the test says. */
function watched(changes: Partial<QuickCalls> = {}, options: QuickWriteOptions = {}) {
  const ways: string[] = [];
  const clock = { nowMs: 0, writeMs: 0 };
  const real = fs as QuickCalls;
  const calls: QuickCalls = {
    read: real.read,
    readSync: real.readSync,
    fdatasync: real.fdatasync,
    writev(...call) {
      ways.push("pool");
      real.writev(...call);
    },
    writevSync(...call) {
      ways.push("at once");
      clock.nowMs += clock.writeMs;
      return real.writevSync(...call);
    },
    ...changes,
  };
  return {
    ways,
    clock,
    disk: new NodeDisk(root, quickWrites(calls, { ...options, now: () => clock.nowMs })),
  };
}

test("a write of up to 64 KiB is made at once, a longer one by the pool, and both are there", async () => {
  const { ways, disk } = watched();
  const file = await disk.openFile("lengths", "create");
  await written(file, [new Uint8Array(65_535).fill(1), utf8("a")], 0);
  await written(file, [new Uint8Array(65_536).fill(2), utf8("b")], 65_536);
  assert.deepEqual(ways, ["at once", "pool"]);
  assert.deepEqual(await readAt(file, 2, 65_534), Uint8Array.of(1, 97));
  assert.deepEqual(await readAt(file, 2, 131_071), Uint8Array.of(2, 98));
  await file.close();
});

test("after a write that waited for the disk the pool takes all of them for a second", async () => {
  const { ways, clock, disk } = watched();
  const file = await disk.openFile("slow", "create");
  const write = () => written(file, [utf8("x")], 0);
  clock.writeMs = 2;
  await write();
  clock.writeMs = 2.1;
  await write();
  await write();
  clock.nowMs += 999;
  await write();
  clock.nowMs += 1;
  await write();
  assert.deepEqual(ways, ["at once", "at once", "pool", "pool", "at once"]);
  await file.close();
});

test("nobody hears of a write before the call that asked for it is over", async () => {
  const { ways, disk } = watched();
  const file = await disk.openFile("later", "create");
  let isHeard = false;
  const heard = new Promise<void>((resolve) =>
    file.write([utf8("x")], 0, () => {
      isHeard = true;
      resolve();
    }),
  );
  assert.deepEqual([ways, isHeard], [["at once"], false]);
  await heard;
  await file.close();
});

test("a write at once that is short goes on, and one that fails says with what", async () => {
  const rounds: number[] = [];
  const { disk } = watched({
    writevSync(fd, parts, position) {
      rounds.push(position);
      if (position >= 8) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
      return fs.writevSync(fd, [parts[0]!.subarray(0, 4)], position);
    },
  });
  const file = await disk.openFile("short", "create");
  await written(file, [utf8("abcdefgh")], 0);
  assert.deepEqual(rounds.splice(0), [0, 4]);
  await assert.rejects(written(file, [utf8("ijkl")], 8), (error) => isCodedError(error, ErrorCode.DiskFull));
  assert.deepEqual(await readAt(file, 8, 0), utf8("abcdefgh"));
  await file.close();
});

test("where every core is taken a long write is made after the turn it is asked for in, up to 4 MiB", async () => {
  const turnEnds: (() => void)[] = [];
  const { ways, disk } = watched({}, { coresTaken: true, afterTurn: (callback) => turnEnds.push(callback) });
  const file = await disk.openFile("long", "create");
  const heard: string[] = [];
  const write = (name: string, length: number) =>
    new Promise<void>((resolve) =>
      file.write([new Uint8Array(length).fill(length % 251)], 0, (error) => {
        assert.equal(error, undefined);
        heard.push(name);
        resolve();
      }),
    );
  const long = [write("first", 65_537), write("second", 4_194_304)];
  await write("short", 65_536);
  assert.deepEqual([ways.splice(0), heard], [["at once"], ["short"]]);
  for (const end of turnEnds.splice(0)) end();
  await Promise.all(long);
  assert.deepEqual(
    [ways.splice(0), heard],
    [
      ["at once", "at once"],
      ["short", "first", "second"],
    ],
  );
  assert.deepEqual(await readAt(file, 1, 4_194_303), Uint8Array.of(4_194_304 % 251));
  await write("too long", 4_194_305);
  assert.deepEqual(ways, ["pool"]);
  await file.close();
});

test("long writes that wait for the end of the turn go to the pool when one before them met a slow disk", async () => {
  const turnEnds: (() => void)[] = [];
  const options = { coresTaken: true, afterTurn: (callback: () => void) => void turnEnds.push(callback) };
  const { ways, clock, disk } = watched({}, options);
  const file = await disk.openFile("slow-long", "create");
  const long = new Uint8Array(2_097_152);
  const writes = [written(file, [long], 0), written(file, [long], 2_097_152), written(file, [long], 0)];
  clock.writeMs = 4;
  turnEnds.shift()?.();
  clock.writeMs = 4.1;
  for (const end of turnEnds.splice(0)) end();
  await Promise.all(writes);
  assert.deepEqual(ways, ["at once", "at once", "pool"]);
  await file.close();
});

test("a long write at once that fails says with what", async () => {
  const fail = () => {
    throw Object.assign(new Error("no room"), { code: "ENOSPC" });
  };
  const { disk } = watched({ writevSync: fail }, { coresTaken: true });
  const file = await disk.openFile("full", "create");
  const refused = written(file, [new Uint8Array(100_000)], 0);
  await assert.rejects(refused, (error) => isCodedError(error, ErrorCode.DiskFull));
  await file.close();
});
