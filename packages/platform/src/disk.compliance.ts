import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { SeededRandom, utf8 } from "@millrace/testkit";
import type { Disk, DiskFile } from "./disk.ts";

/** A fresh, empty disk of one implementation and what removes it. */
export interface DiskUnderTest {
  readonly disk: Disk;
  remove(): Promise<void>;
}

/** What every `Disk` must do; each implementation runs it on fresh disks. */
export function describeDiskCompliance(name: string, make: () => Promise<DiskUnderTest>): void {
  describe(`${name} as a Disk`, () => {
    const made: DiskUnderTest[] = [];
    const fresh = async () => {
      const one = await make();
      made.push(one);
      return one.disk;
    };
    after(async () => {
      for (const one of made) await one.remove();
    });
    testOpening(fresh);
    testBytes(fresh);
    testDirectories(fresh);
    testWholeFiles(fresh);
    testPathsAndLocks(fresh);
  });
}

type Fresh = () => Promise<Disk>;

function testOpening(fresh: Fresh): void {
  test("create fails when the name exists, create-or-open does not", async () => {
    const disk = await fresh();
    const first = await disk.openFile("a", "create");
    await written(first, [utf8("kept")], 0);
    await rejectsWith(disk.openFile("a", "create"), ErrorCode.IoError, "EEXIST");
    const again = await disk.openFile("a", "create-or-open");
    assert.equal(await again.length(), 4);
    await first.close();
    await again.close();
  });

  test("read and read-write create nothing", async () => {
    const disk = await fresh();
    await rejectsWith(disk.openFile("a", "read"), ErrorCode.IoError, "ENOENT");
    await rejectsWith(disk.openFile("a", "read-write"), ErrorCode.IoError, "ENOENT");
    assert.deepEqual(await disk.readDirectory(""), []);
  });

  test("a file in an absent directory cannot be created, and a directory is not opened as a file", async () => {
    const disk = await fresh();
    await rejectsWith(disk.openFile("no/a", "create"), ErrorCode.IoError, "ENOENT");
    await disk.makeDirectory("d");
    await rejectsWith(disk.openFile("d", "read"), ErrorCode.IoError, "EISDIR");
  });

  test("a closed file answers every call with an error, and close can be repeated", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    await file.close();
    await file.close();
    await assert.rejects(written(file, [utf8("x")], 0), isIoError);
    await assert.rejects(readAt(file, 1, 0), isIoError);
    await assert.rejects(synced(file), isIoError);
    await assert.rejects(file.length(), isIoError);
    await assert.rejects(file.truncate(0), isIoError);
  });

  test("a file opened to read refuses to be written", async () => {
    const disk = await fresh();
    await (await disk.openFile("a", "create")).close();
    const file = await disk.openFile("a", "read");
    await assert.rejects(written(file, [utf8("x")], 0), isIoError);
    await file.close();
  });
}

function testBytes(fresh: Fresh): void {
  test("parts are written one after another, empty ones among them, and read back", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    await written(file, [utf8("one"), new Uint8Array(0), utf8("two")], 3);
    await synced(file);
    assert.deepEqual(await readAt(file, 20, 0), Uint8Array.from([0, 0, 0, ...utf8("onetwo")]));
    assert.deepEqual(await readAt(file, 3, 6), utf8("two"));
    assert.equal(await file.length(), 9);
    await file.close();
  });

  test("more parts than one system call takes are all written", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    const parts = Array.from({ length: 2500 }, (_, index) => Uint8Array.of(index & 255, index >> 8, 7));
    await written(file, parts, 0);
    assert.deepEqual(await readAt(file, 7500, 0), Uint8Array.from(parts.flatMap((part) => [...part])));
    await file.close();
  });

  test("reading at or past the end gives nothing, and an empty write and an empty read complete", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    await written(file, [], 5);
    await written(file, [new Uint8Array(0)], 5);
    assert.equal(await file.length(), 0);
    assert.equal((await readAt(file, 4, 0)).length, 0);
    assert.equal((await readAt(file, 0, 0)).length, 0);
    await file.close();
  });

  test("callbacks are never called from within the call", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    for (const parts of [[], [utf8("x")]]) {
      let inside = true;
      const seen = new Promise<boolean>((resolve) => file.write(parts, 0, () => resolve(inside)));
      inside = false;
      assert.equal(await seen, false);
    }
    let inside = true;
    const seen = new Promise<boolean>((resolve) => file.read(new Uint8Array(0), 0, () => resolve(inside)));
    inside = false;
    assert.equal(await seen, false);
    await file.close();
  });

  test("truncate cuts and grows with zeros, and preallocate keeps the length", async () => {
    const disk = await fresh();
    const file = await disk.openFile("a", "create");
    await written(file, [utf8("abcdef")], 0);
    await file.truncate(2);
    await file.truncate(4);
    await file.preallocate(8192);
    assert.equal(await file.length(), 4);
    assert.deepEqual(await readAt(file, 9, 0), Uint8Array.from([97, 98, 0, 0]));
    await file.close();
  });

  test("random writes leave the same bytes as in memory", async () => {
    const disk = await fresh();
    const random = new SeededRandom(5);
    const file = await disk.openFile("a", "create");
    const model = new Uint8Array(4000);
    let length = 0;
    for (let round = 0; round < 60; round++) {
      const bytes = random.bytes(random.below(900));
      const position = random.below(3000);
      await written(file, [bytes.subarray(0, 10), bytes.subarray(10)], position);
      model.set(bytes, position);
      if (bytes.length > 0) length = Math.max(length, position + bytes.length);
    }
    assert.deepEqual(await readAt(file, 4000, 0), model.slice(0, length));
    await file.close();
  });
}

function testDirectories(fresh: Fresh): void {
  test("a directory is made with its parents, twice without error, and listed by name", async () => {
    const disk = await fresh();
    await disk.makeDirectory("x/y/z");
    await disk.makeDirectory("x/y/z");
    for (const name of ["b", "a", "c"]) await (await disk.openFile(`x/y/${name}`, "create")).close();
    const names = (await disk.readDirectory("x/y")).map((entry) => `${entry.name} ${entry.kind}`);
    assert.deepEqual(names, ["a file", "b file", "c file", "z directory"]);
    assert.deepEqual(await disk.readDirectory("absent"), []);
    await disk.syncDirectory("x/y");
    await disk.syncDirectory("");
  });

  test("a directory is not made over a file", async () => {
    const disk = await fresh();
    await (await disk.openFile("a", "create")).close();
    await assert.rejects(disk.makeDirectory("a"), isIoError);
    await assert.rejects(disk.makeDirectory("a/b"), isIoError);
  });

  test("rename moves a file over another, and a directory with all below it", async () => {
    const disk = await fresh();
    await disk.writeWhole("a", utf8("new"));
    await disk.writeWhole("b", utf8("old"));
    await disk.rename("a", "b");
    assert.deepEqual(await disk.readWhole("b", 10), utf8("new"));
    assert.equal(await disk.stat("a"), undefined);
    await disk.makeDirectory("d/e");
    await disk.writeWhole("d/e/f", utf8("deep"));
    await disk.rename("d", "g");
    assert.deepEqual(await disk.readWhole("g/e/f", 10), utf8("deep"));
    assert.deepEqual(await disk.readDirectory("d"), []);
    await rejectsWith(disk.rename("absent", "h"), ErrorCode.IoError, "ENOENT");
  });

  test("removing takes what is there and does not mind what is not", async () => {
    const disk = await fresh();
    await disk.makeDirectory("d/e");
    await disk.writeWhole("d/e/f", utf8("x"));
    await disk.removeFile("d/absent");
    await disk.removeDirectory("absent");
    await disk.removeFile("d/e/f");
    assert.deepEqual(await disk.readDirectory("d/e"), []);
    await disk.writeWhole("d/f", utf8("x"));
    await disk.removeDirectory("d");
    assert.deepEqual(await disk.readDirectory(""), []);
    await assert.rejects(disk.removeDirectory(""), isIoError);
  });

  test("a removed file stays readable for who has it open", async () => {
    const disk = await fresh();
    await disk.writeWhole("a", utf8("still"));
    const file = await disk.openFile("a", "read");
    await disk.removeFile("a");
    assert.deepEqual(await readAt(file, 5, 0), utf8("still"));
    await file.close();
  });

  test("stat tells kind and length", async () => {
    const disk = await fresh();
    await disk.makeDirectory("d");
    await disk.writeWhole("d/a", utf8("four"));
    assert.deepEqual(await disk.stat("d/a"), { kind: "file", length: 4 });
    assert.equal((await disk.stat("d"))?.kind, "directory");
    assert.equal(await disk.stat("d/b"), undefined);
    assert.equal(await disk.stat("d/a/b"), undefined);
  });
}

function testWholeFiles(fresh: Fresh): void {
  test("a whole file is replaced and leaves no temporary behind", async () => {
    const disk = await fresh();
    await disk.writeWhole("a", utf8("first"));
    await disk.writeWhole("a", utf8("2nd"));
    assert.deepEqual(await disk.readWhole("a", 3), utf8("2nd"));
    assert.deepEqual(await disk.readDirectory(""), [{ name: "a", kind: "file" }]);
  });

  test("many writers of one whole file take turns, and the last one stays", async () => {
    const disk = await fresh();
    const texts = Array.from({ length: 8 }, (_, index) => utf8(`text ${index}`));
    await Promise.all(texts.map((text) => disk.writeWhole("a", text)));
    assert.deepEqual(await disk.readWhole("a", 100), utf8("text 7"));
  });

  test("an absent whole file is nothing, and one over the limit an error", async () => {
    const disk = await fresh();
    assert.equal(await disk.readWhole("a", 10), undefined);
    await disk.writeWhole("a", utf8("too long"));
    await assert.rejects(disk.readWhole("a", 7), isIoError);
    await disk.writeWhole("empty", new Uint8Array(0));
    assert.deepEqual(await disk.readWhole("empty", 0), new Uint8Array(0));
  });

  test("a whole file in an absent directory is an error that does not stop the next one", async () => {
    const disk = await fresh();
    await assert.rejects(disk.writeWhole("no/a", utf8("x")), isIoError);
    await disk.writeWhole("a", utf8("x"));
    assert.deepEqual(await disk.readWhole("a", 1), utf8("x"));
  });

  test("space is free and total bytes", async () => {
    const space = await (await fresh()).space();
    assert.ok(space.totalLength > 0 && space.freeLength >= 0 && space.freeLength <= space.totalLength);
  });
}

function testPathsAndLocks(fresh: Fresh): void {
  for (const path of ["/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a/.", "a\0b", "a\\b"]) {
    test(`the path ${JSON.stringify(path)} is refused by every call`, async () => {
      const disk = await fresh();
      const refused = (error: unknown) => isCodedError(error, ErrorCode.InvalidArgument);
      await assert.rejects(async () => disk.openFile(path, "create-or-open"), refused);
      await assert.rejects(async () => disk.readDirectory(path), refused);
      await assert.rejects(async () => disk.makeDirectory(path), refused);
      await assert.rejects(async () => disk.rename("a", path), refused);
      await assert.rejects(async () => disk.removeDirectory(path), refused);
      await assert.rejects(async () => disk.writeWhole(path, utf8("x")), refused);
    });
  }

  test("a lock is held by one, names its holder, and can be taken again after its release", async () => {
    const disk = await fresh();
    const lock = await disk.lock("server.lock");
    await assert.rejects(disk.lock("server.lock"), (error) => {
      assert.ok(isCodedError(error, ErrorCode.DataDirectoryInUse));
      assert.equal(typeof error.details["pid"], "number");
      return true;
    });
    await lock.release();
    await lock.release();
    await (await disk.lock("server.lock")).release();
    assert.deepEqual(await disk.readDirectory(""), []);
  });

  test("of many racers for a lock exactly one wins", async () => {
    const disk = await fresh();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => disk.lock("server.lock")));
    assert.equal(results.filter((result) => result.status === "fulfilled").length, 1);
    const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    assert.ok(refusals.every((error) => isCodedError(error, ErrorCode.DataDirectoryInUse)));
  });
}

function isIoError(error: unknown): boolean {
  return isCodedError(error, ErrorCode.IoError);
}

function rejectsWith(promise: Promise<unknown>, code: number, errno: string): Promise<void> {
  return assert.rejects(promise, (error) => {
    assert.ok(isCodedError(error, code));
    assert.equal(error.details["errno"], errno);
    return true;
  });
}

/** `write` as a promise, for tests. */
export function written(file: DiskFile, parts: readonly Uint8Array[], position: number): Promise<void> {
  return new Promise((resolve, reject) => file.write(parts, position, settle(resolve, reject)));
}

/** `datasync` as a promise, for tests. */
export function synced(file: DiskFile): Promise<void> {
  return new Promise((resolve, reject) => file.datasync(settle(resolve, reject)));
}

/** Up to `length` bytes from `position`, for tests. */
export function readAt(file: DiskFile, length: number, position: number): Promise<Uint8Array> {
  const target = new Uint8Array(length);
  return new Promise((resolve, reject) => {
    file.read(target, position, (error, found) =>
      error ? reject(error) : resolve(target.subarray(0, found)),
    );
  });
}

function settle(resolve: () => void, reject: (error: CodedError) => void): (error?: CodedError) => void {
  return (error) => (error === undefined ? resolve() : reject(error));
}
