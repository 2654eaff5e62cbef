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

test("after two writes in a row that waited for the disk the pool takes all of them for a second", async () => {
  const { ways, clock, disk } = watched();
  const file = await disk.openFile("slow", "create");
  const write = async (writeMs: number) => {
    clock.writeMs = writeMs;
    await written(file, [utf8("x")], 0);
  };
  await write(2.1);
  await write(2.1);
  await write(0);
  clock.nowMs += 999;
  await write(0);
  clock.nowMs += 1;
  await write(2.1);
  await write(2.1);
  await write(0);
  assert.deepEqual(ways, ["at once", "at once", "pool", "pool", "at once", "at once", "pool"]);
  await file.close();
});

test("a single write that was slow lost its core: the next ones are made at once", async () => {
  const { ways, clock, disk } = watched();
  const file = await disk.openFile("preempted", "create");
  for (const writeMs of [2.1, 2, 2.1, 0, 50, 0]) {
    clock.writeMs = writeMs;
    await written(file, [utf8("x")], 0);
  }
  assert.deepEqual(ways, Array(6).fill("at once"));
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

test("where every core is taken a write of up to 4 MiB is made at once", async () => {
  const { ways, disk } = watched({}, { coresTaken: true });
  const file = await disk.openFile("long", "create");
  await written(file, [new Uint8Array(4_194_303).fill(1), utf8("a")], 0);
  await written(file, [new Uint8Array(4_194_304).fill(2), utf8("b")], 4_194_304);
  assert.deepEqual(ways, ["at once", "pool"]);
  assert.deepEqual(await readAt(file, 3, 4_194_302), Uint8Array.of(1, 97, 2));
  await file.close();
});

test("a long write at once may lose its core for a while, and then has waited for the disk", async () => {
  const { ways, clock, disk } = watched({}, { coresTaken: true });
  const file = await disk.openFile("slow-long", "create");
  const write = (length: number) => written(file, [new Uint8Array(length)], 0);
  clock.writeMs = 8;
  await write(65_537);
  await write(65_537);
  clock.writeMs = 8.1;
  await write(65_537);
  await write(65_537);
  await write(1);
  clock.nowMs += 1_000;
  clock.writeMs = 2.1;
  await write(65_536);
  await write(65_536);
  await write(1);
  const made = ["at once", "at once", "at once", "at once", "pool", "at once", "at once", "pool"];
  assert.deepEqual(ways, made);
  await file.close();
});
