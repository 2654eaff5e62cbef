import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { utf8 } from "@millrace/testkit";
import { readAt, synced, written } from "../disk.compliance.ts";
import type { DiskFile } from "../disk.ts";
import type { FileCalls } from "./file-calls.ts";
import { NodeDisk } from "./node-disk.ts";
import { OpenFiles } from "./open-files.ts";

const root = await mkdtemp(join(tmpdir(), "millrace-open-files-"));
after(() => rm(root, { recursive: true, force: true }));

const MAX = 4;
const real = fs as FileCalls;

function diskWith(calls: Partial<FileCalls> = {}): NodeDisk {
  const { writev, read, fdatasync } = real;
  return new NodeDisk(root, { writev, read, fdatasync, ...calls }, MAX);
}

async function made(disk: NodeDisk, prefix: string, count: number): Promise<DiskFile[]> {
  const files: DiskFile[] = [];
  for (let index = 0; index < count; index += 1)
    files.push(await disk.openFile(`${prefix}${index}`, "create"));
  return files;
}

const hasErrno = (errno: string) => (error: unknown) =>
  isCodedError(error, ErrorCode.IoError) && error.details["errno"] === errno;

describe("files beyond the bound", () => {
  it("are closed while nobody uses them, and opened again by each kind of call", async () => {
    const disk = diskWith();
    const files = await made(disk, "kind", 12);
    assert.equal(disk.openFilesCount, MAX);
    for (const [index, file] of files.entries()) await written(file, [utf8(`first ${index} `)], 0);
    for (const [index, file] of files.entries())
      await written(file, [utf8("second")], `first ${index} `.length);
    for (const file of files) await synced(file);
    for (const [index, file] of files.entries()) {
      const text = `first ${index} second`;
      assert.equal(await file.length(), text.length);
      assert.deepEqual(await readAt(file, text.length, 0), utf8(text));
    }
    for (const file of files) await file.truncate(5);
    for (const file of files) assert.deepEqual(await readAt(file, 20, 0), utf8("first"));
    assert.equal(disk.openFilesCount, MAX);
    for (const file of files) await file.close();
    assert.equal(disk.openFilesCount, 0);
    await assert.rejects(written(files[0] as DiskFile, [utf8("x")], 0), hasErrno("EBADF"));
  });

  it("are written and read by many at once, and never more are open than may be", async () => {
    const inUse: number[] = [];
    const counted =
      <Rest extends unknown[]>(call: (fd: number, ...rest: Rest) => void) =>
      (fd: number, ...rest: Rest) => {
        inUse.push(fd);
        assert.ok(new Set(inUse).size <= MAX, `the handles ${inUse} are in use`);
        const done = rest.pop() as (...results: unknown[]) => void;
        const ended = (...results: unknown[]) => {
          inUse.splice(inUse.indexOf(fd), 1);
          done(...results);
        };
        call(fd, ...([...rest, ended] as unknown as Rest));
      };
    const { writev, read, fdatasync } = real;
    const disk = diskWith({ writev: counted(writev), read: counted(read), fdatasync: counted(fdatasync) });
    const files = await made(disk, "many", 40);
    for (let round = 0; round < 5; round += 1) {
      assert.ok(disk.openFilesCount <= MAX);
      await Promise.all(files.map((file, index) => written(file, [utf8(`${round} ${index}`)], round * 10)));
      await Promise.all(files.map(synced));
      const texts = await Promise.all(files.map((file) => readAt(file, 10, round * 10)));
      for (const [index, text] of texts.entries()) assert.deepEqual(text, utf8(`${round} ${index}`));
    }
    await Promise.all(files.map((file) => file.close()));
    assert.equal(disk.openFilesCount, 0);
  });

  it("are synced before they are closed; one whose sync fails then is never trusted again", async () => {
    let syncs = 0;
    const failing = new Set<number>();
    const disk = diskWith({
      fdatasync(fd, done) {
        syncs += 1;
        if (failing.has(syncs)) setImmediate(done, Object.assign(new Error("EIO"), { code: "EIO" }));
        else real.fdatasync(fd, done);
      },
    });
    const [first, ...others] = await made(disk, "synced", MAX);
    assert.ok(first !== undefined);
    await written(first, [utf8("a")], 0);
    failing.add(1);
    const more = await made(disk, "more", MAX);
    assert.equal(syncs, 1, "only what was written needs it");
    await assert.rejects(synced(first), hasErrno("EIO"));
    await assert.rejects(written(first, [utf8("b")], 1), hasErrno("EIO"));
    await assert.rejects(first.truncate(0), hasErrno("EIO"));
    assert.deepEqual(await readAt(first, 5, 0), utf8("a"));
    for (const file of [first, ...others, ...more]) await file.close();
  });

  it("leave room for others also when no sync succeeds any more", { timeout: 20_000 }, async () => {
    const disk = diskWith({
      fdatasync: (_fd, done) => void setImmediate(done, Object.assign(new Error("EIO"), { code: "EIO" })),
    });
    const files = await made(disk, "sick", MAX);
    for (const [index, file] of files.entries()) await written(file, [utf8(`${index}`)], 0);
    const others = await made(disk, "well", 2 * MAX);
    assert.ok(disk.openFilesCount <= MAX);
    for (const [index, file] of files.entries()) {
      assert.deepEqual(await readAt(file, 5, 0), utf8(`${index}`));
      await assert.rejects(synced(file), hasErrno("EIO"));
      await assert.rejects(written(file, [utf8("x")], 1), hasErrno("EIO"));
    }
    for (const file of [...files, ...others]) await file.close();
    assert.equal(disk.openFilesCount, 0);
  });

  it("are not mistaken for others that have their names now", async () => {
    const disk = diskWith();
    const [file] = await made(disk, "named", 1);
    assert.ok(file !== undefined);
    const others = await made(disk, "other", 2 * MAX);
    await rename(join(root, "named0"), join(root, "moved"));
    await assert.rejects(readAt(file, 1, 0), hasErrno("ENOENT"));
    fs.writeFileSync(join(root, "named0"), "somebody else's");
    await assert.rejects(written(file, [utf8("x")], 0), hasErrno("ESTALE"));
    assert.equal(fs.readFileSync(join(root, "named0"), "utf8"), "somebody else's");
    for (const one of [file, ...others]) await one.close();
  });

  it("stay open when their name is gone: whoever reads them comes to his end", async () => {
    const disk = diskWith();
    const [file] = await made(disk, "gone", 1);
    assert.ok(file !== undefined);
    await written(file, [utf8("still here")], 0);
    await disk.removeFile("gone0");
    const others = await made(disk, "behind", 2 * MAX);
    assert.deepEqual(await readAt(file, 10, 0), utf8("still here"));
    for (const one of [file, ...others]) await one.close();
  });
});

describe("an opening for which the system has no handle left", () => {
  const noHandle = () => Object.assign(new Error("EMFILE"), { code: "EMFILE" });

  it("is tried once more after idle files were closed", async () => {
    const openFiles = new OpenFiles(MAX, real);
    const by = {
      path: "relief",
      absolutePath: join(root, "relief"),
      flags: fs.constants.O_RDWR,
      mode: 0o600,
    };
    fs.writeFileSync(by.absolutePath, "");
    const slots = [1, 2, 3].map(() => openFiles.slotFor(by));
    for (const slot of slots) {
      await slot.use();
      slot.end();
    }
    let tries = 0;
    const fd = await openFiles.relieved(async () => {
      tries += 1;
      if (openFiles.count > 0) throw noHandle();
      return 77;
    });
    assert.deepEqual([fd, tries, openFiles.count], [77, 2, 0]);
    await assert.rejects(
      openFiles.relieved(() => Promise.reject(noHandle())),
      { code: "EMFILE" },
    );
    await assert.rejects(
      openFiles.relieved(() => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" }))),
      { code: "EIO" },
    );
    for (const slot of slots) await slot.close();
  });
});
