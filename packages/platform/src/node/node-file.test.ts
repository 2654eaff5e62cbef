import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { utf8 } from "@millrace/testkit";
import { readAt, synced, written } from "../disk.compliance.ts";
import type { FileCalls } from "./file-calls.ts";
import { NodeDisk } from "./node-disk.ts";

const root = await mkdtemp(join(tmpdir(), "millrace-file-"));
after(() => rm(root, { recursive: true, force: true }));

const real = fs as FileCalls;

function diskWith(calls: Partial<FileCalls>): NodeDisk {
  const { writev, read, fdatasync } = real;
  return new NodeDisk(root, { writev, read, fdatasync, ...calls });
}

function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

test("short writes and short reads are continued until all is done", async () => {
  const rounds: number[] = [];
  const disk = diskWith({
    writev(fd, parts, position, done) {
      const first = parts[0]!.subarray(0, 5);
      rounds.push(position);
      real.writev(fd, [first], position, done);
    },
    read: (fd, target, offset, length, position, done) =>
      real.read(fd, target, offset, Math.min(length, 4), position, done),
  });
  const file = await disk.openFile("short", "create");
  await written(file, [utf8("abcdefgh"), utf8("ij"), utf8("klmnopq")], 2);
  assert.deepEqual(rounds, [2, 7, 10, 12, 17]);
  assert.deepEqual(await readAt(file, 17, 2), utf8("abcdefghijklmnopq"));
  await file.close();
});

test("no room is DiskFull, everything else IoError, each with path, call and errno", async () => {
  const cases = [
    ["ENOSPC", ErrorCode.DiskFull],
    ["EDQUOT", ErrorCode.DiskFull],
    ["EFBIG", ErrorCode.DiskFull],
    ["EIO", ErrorCode.IoError],
    ["EROFS", ErrorCode.IoError],
  ] as const;
  for (const [errno, code] of cases) {
    const disk = diskWith({
      writev: (_fd, _parts, _position, done) => setImmediate(done, systemError(errno), 0),
    });
    const file = await disk.openFile("failing", "create-or-open");
    await assert.rejects(written(file, [utf8("x")], 0), (error) => {
      assert.ok(isCodedError(error, code));
      assert.deepEqual(error.details, { operation: "write", path: "failing", errno });
      assert.ok(error.cause instanceof Error);
      return true;
    });
    await file.close();
  }
});

test("a write that runs out of room in its second round is DiskFull", async () => {
  let rounds = 0;
  const disk = diskWith({
    writev(fd, parts, position, done) {
      if (rounds++ > 0) setImmediate(done, systemError("ENOSPC"), 0);
      else real.writev(fd, [parts[0]!.subarray(0, 3)], position, done);
    },
  });
  const file = await disk.openFile("half", "create");
  await assert.rejects(written(file, [utf8("abcdef")], 0), (error) =>
    isCodedError(error, ErrorCode.DiskFull),
  );
  assert.equal(await file.length(), 3);
  await file.close();
});

test("a system that writes nothing without an error is an IoError, not an endless loop", async () => {
  const disk = diskWith({ writev: (_fd, _parts, _position, done) => setImmediate(done, null, 0) });
  const file = await disk.openFile("nothing", "create");
  await assert.rejects(written(file, [utf8("x")], 0), (error) => isCodedError(error, ErrorCode.IoError));
  await file.close();
});

test("a failed read and a failed datasync are IoError", async () => {
  const disk = diskWith({
    read: (_fd, _target, _offset, _length, _position, done) => setImmediate(done, systemError("EIO"), 0),
    fdatasync: (_fd, done) => setImmediate(done, systemError("EIO")),
  });
  const file = await disk.openFile("broken", "create");
  await assert.rejects(readAt(file, 1, 0), (error) => isCodedError(error, ErrorCode.IoError));
  await assert.rejects(synced(file), (error) => isCodedError(error, ErrorCode.IoError));
  await file.close();
});

test("links are listed as other and never followed", async () => {
  const disk = new NodeDisk(root);
  await disk.makeDirectory("links/real");
  await disk.writeWhole("links/real/kept", utf8("kept"));
  await symlink("real", join(root, "links/directory"));
  await symlink("real/kept", join(root, "links/file"));
  const kinds = (await disk.readDirectory("links")).map((entry) => `${entry.name} ${entry.kind}`);
  assert.deepEqual(kinds, ["directory other", "file other", "real directory"]);
  await assert.rejects(disk.openFile("links/file", "read"), (error) =>
    isCodedError(error, ErrorCode.IoError),
  );
  await assert.rejects(disk.removeDirectory("links/directory"), (error) =>
    isCodedError(error, ErrorCode.IoError),
  );
  assert.deepEqual(await disk.readWhole("links/real/kept", 9), utf8("kept"));
});

test("a failed whole write keeps the old content and removes its temporary file", async () => {
  const disk = diskWith({ fdatasync: (_fd, done) => setImmediate(done, systemError("EIO")) });
  await new NodeDisk(root).writeWhole("whole", utf8("old"));
  await assert.rejects(disk.writeWhole("whole", utf8("new")), (error) =>
    isCodedError(error, ErrorCode.IoError),
  );
  assert.deepEqual(await disk.readWhole("whole", 9), utf8("old"));
  assert.equal(await disk.stat("whole.new"), undefined);
});

test("preallocate reserves blocks where the system can, and keeps the length", async () => {
  const file = await new NodeDisk(root).openFile("reserved", "create");
  await file.preallocate(1_048_576);
  assert.equal(await file.length(), 0);
  await file.preallocate(0);
  await file.close();
});
