import assert from "node:assert/strict";
import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeDirectory } from "./make-directory.ts";

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-make-"));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("a directory is made with its parents, once or many times at once, for its mode", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a", "b", "c");
    await Promise.all(Array.from({ length: 8 }, () => makeDirectory(path, 0o700)));
    await makeDirectory(path, 0o700);
    for (const made of [path, join(folder, "a")]) {
      const entry = await stat(made);
      assert.deepEqual([entry.isDirectory(), entry.mode & 0o777], [true, 0o700]);
    }
    await symlink(path, join(folder, "link"));
    await makeDirectory(join(folder, "link"), 0o700);
  }));

test("a file in the way is an error, and so is a parent that takes no directories", () =>
  inFolder(async (folder) => {
    const file = join(folder, "file");
    await writeFile(file, "x");
    await assert.rejects(makeDirectory(file, 0o700), { code: "EEXIST" });
    await assert.rejects(makeDirectory(join(file, "below"), 0o700), { code: "ENOTDIR" });
    if (process.platform === "linux") await assert.rejects(makeDirectory("/proc/nowhere", 0o700));
  }));
