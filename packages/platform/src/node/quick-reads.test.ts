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
import { quickReads } from "./quick-reads.ts";
import type { QuickCalls } from "./quick-writes.ts";

const root = await mkdtemp(join(tmpdir(), "millrace-quick-"));
after(() => rm(root, { recursive: true, force: true }));

/** Real calls that note which way each read took; a read at once takes as long as the test says. */
function watched(changes: Partial<QuickCalls> = {}) {
  const ways: string[] = [];
  const clock = { nowMs: 0, readMs: 0 };
  const real = fs as QuickCalls;
  const calls: QuickCalls = {
    writev: real.writev,
    writevSync: real.writevSync,
    fdatasync: real.fdatasync,
    read(...call) {
      ways.push("pool");
      real.read(...call);
    },
    readSync(...call) {
      ways.push("at once");
      clock.nowMs += clock.readMs;
      return real.readSync(...call);
    },
    ...changes,
  };
  return {
    ways,
    clock,
    disk: new NodeDisk(
      root,
      quickReads(calls, () => clock.nowMs),
    ),
  };
}

test("a read of up to 1 MiB is made at once, a longer one by the pool, and both find what is there", async () => {
  const { ways, disk } = watched();
  const file = await disk.openFile("lengths", "create");
  await written(file, [new Uint8Array(1_048_576).fill(7), utf8("ab")], 0);
  assert.deepEqual((await readAt(file, 1_048_576, 1)).subarray(-2), Uint8Array.of(7, 97));
  assert.deepEqual((await readAt(file, 1_048_577, 1)).subarray(-2), utf8("ab"));
  assert.deepEqual(ways, ["at once", "pool"]);
  assert.deepEqual(await readAt(file, 10, 1_048_577), utf8("b"));
  await file.close();
});

test("after two slow reads in a row the pool takes all of them, each time for twice as long", async () => {
  const { ways, clock, disk } = watched();
  const file = await disk.openFile("slow", "create");
  await written(file, [utf8("x")], 0);
  const read = async (readMs: number) => {
    clock.readMs = readMs;
    await readAt(file, 1, 0);
    return ways.pop();
  };
  for (const readMs of [0.3, 0.25, 0.3, 0.2, 0.3, 0.3]) assert.equal(await read(readMs), "at once");
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000]) {
    assert.equal(await read(0), "pool");
    clock.nowMs += pauseMs - 0.1;
    assert.equal(await read(0), "pool");
    clock.nowMs += 0.2;
    for (let reads = 0; reads < 2; reads += 1) assert.equal(await read(1), "at once");
  }
  clock.nowMs += 32_000;
  for (const readMs of [0, 1, 1]) assert.equal(await read(readMs), "at once");
  assert.equal(await read(0), "pool");
  clock.nowMs += 1_000;
  assert.equal(await read(0), "at once");
  await file.close();
});

test("nobody hears of a read before the call that asked for it is over", async () => {
  const { ways, disk } = watched();
  const file = await disk.openFile("later", "create");
  await written(file, [utf8("x")], 0);
  let isHeard = false;
  const heard = new Promise<number>((resolve) =>
    file.read(new Uint8Array(1), 0, (_, length) => {
      isHeard = true;
      resolve(length);
    }),
  );
  assert.deepEqual([ways, isHeard], [["at once"], false]);
  assert.equal(await heard, 1);
  await file.close();
});

test("a read at once that is short goes on, and one that fails says with what", async () => {
  const rounds: number[] = [];
  const { disk } = watched({
    readSync(fd, target, offset, length, position) {
      rounds.push(position);
      if (position >= 8) throw Object.assign(new Error("bad sector"), { code: "EIO" });
      return fs.readSync(fd, target, offset, Math.min(4, length), position);
    },
  });
  const file = await disk.openFile("short", "create");
  await written(file, [utf8("abcdefgh")], 0);
  assert.deepEqual(await readAt(file, 8, 0), utf8("abcdefgh"));
  assert.deepEqual(rounds.splice(0), [0, 4]);
  await assert.rejects(readAt(file, 1, 8), (error) => isCodedError(error, ErrorCode.IoError));
  await file.close();
});
