import fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { DirectoryEntry, Disk, DiskFile, DiskLock, DiskSpace, EntryKind, OpenMode } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { diskPathNames } from "../disk-path.ts";
import { readWholeFile, WholeWrites } from "../whole-file.ts";
import { type FileCalls, fromSystemError, hasErrno } from "./file-calls.ts";
import { makeDirectory } from "./make-directory.ts";
import { NodeFile } from "./node-file.ts";
import { OpenFiles } from "./open-files.ts";
import { takeProcessLock } from "./process-lock.ts";
import { type QuickCalls, quickWrites } from "./quick-writes.ts";

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;

/** Links are not followed; a pipe does not block the open, it is refused after it. */
const SAFE = O_NOFOLLOW | O_NONBLOCK;

const OPEN_FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY | SAFE,
  "read-write": O_RDWR | SAFE,
  create: O_RDWR | O_CREAT | O_EXCL | SAFE,
  "create-or-open": O_RDWR | O_CREAT | SAFE,
};

/** The data holds password hashes and what users send: for the server's own user only. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

const open = promisify(fs.open);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);

/** Handles that a disk keeps when it was not told how many: it is one of few files then. */
const OPEN_FILES_MAX = 256;

/** The operating system's files below one directory. Makes nothing until asked; `calls` is for tests. */
export class NodeDisk implements Disk {
  readonly root: string;
  readonly gather: Disk["gather"];
  readonly #calls: FileCalls;
  readonly #openFiles: OpenFiles;
  readonly #wholeWrites = new WholeWrites(this);

  /** @param openFilesMax  handles that stay open, see `OpenFiles` */
  constructor(
    root: string,
    calls: FileCalls = quickWrites(fs as QuickCalls),
    openFilesMax = OPEN_FILES_MAX,
    gather?: Disk["gather"],
  ) {
    this.root = root;
    this.gather = gather;
    this.#calls = calls;
    this.#openFiles = new OpenFiles(openFilesMax, calls);
  }

  /** Handles of files that are open now. */
  get openFilesCount(): number {
    return this.#openFiles.count;
  }

  async openFile(path: string, mode: OpenMode): Promise<DiskFile> {
    const absolutePath = this.#absolute(path);
    const by = { path, absolutePath, flags: OPEN_FLAGS[mode], mode: FILE_MODE };
    const slot = this.#openFiles.slotFor(by);
    const entry = await run("stat", path, statOf(await slot.use()));
    slot.end();
    if (entry.isFile()) return new NodeFile({ slot, path, absolutePath, calls: this.#calls });
    await slot.close();
    throw diskError({ operation: "open", path, errno: entry.isDirectory() ? "EISDIR" : "EINVAL" });
  }

  async readDirectory(path: string): Promise<readonly DirectoryEntry[]> {
    const options = { withFileTypes: true } as const;
    const found = await runIfPresent("list", path, fs.promises.readdir(this.#absolute(path), options));
    return (found ?? [])
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async makeDirectory(path: string): Promise<void> {
    await run("make directory", path, makeDirectory(this.#absolute(path), DIRECTORY_MODE));
  }

  async syncDirectory(path: string): Promise<void> {
    // Windows has no such call; its file system journals names.
    if (process.platform === "win32") return;
    const opened = this.#openFiles.relieved(() => open(this.#absolute(path), O_RDONLY));
    const fd = await run("open", path, opened);
    try {
      await run("sync", path, fsync(fd));
    } finally {
      await close(fd);
    }
  }

  async rename(from: string, to: string): Promise<void> {
    await run("rename", from, fs.promises.rename(this.#absolute(from), this.#absolute(to)));
  }

  async removeFile(path: string): Promise<void> {
    await runIfPresent("remove", path, fs.promises.unlink(this.#absolute(path)));
  }

  async removeDirectory(path: string): Promise<void> {
    if (path === "") throw diskError({ operation: "remove", path: this.root, errno: "EPERM" });
    const absolutePath = this.#absolute(path);
    const kind = (await this.stat(path))?.kind;
    if (kind === undefined) return;
    if (kind !== "directory") throw diskError({ operation: "remove", path, errno: "ENOTDIR" });
    await run("remove", path, fs.promises.rm(absolutePath, { recursive: true, force: true }));
  }

  async stat(path: string): Promise<{ readonly kind: EntryKind; readonly length: number } | undefined> {
    const entry = await runIfPresent("stat", path, fs.promises.lstat(this.#absolute(path)));
    return entry === undefined ? undefined : { kind: kindOf(entry), length: entry.size };
  }

  readWhole(path: string, lengthMax: number): Promise<Uint8Array | undefined> {
    return readWholeFile(this, path, lengthMax);
  }

  writeWhole(path: string, bytes: Uint8Array): Promise<void> {
    return this.#wholeWrites.write(path, bytes);
  }

  async space(): Promise<DiskSpace> {
    const found = await run("measure", this.root, fs.promises.statfs(this.root));
    return { freeLength: found.bavail * found.bsize, totalLength: found.blocks * found.bsize };
  }

  async lock(path: string): Promise<DiskLock> {
    return run("lock", path, takeProcessLock(this.#absolute(path)));
  }

  #absolute(path: string): string {
    return join(this.root, ...diskPathNames(path));
  }
}

/** At once: what the system knows of an open file is in memory, and a turn of the thread pool costs more. */
async function statOf(fd: number): Promise<fs.Stats> {
  return fs.fstatSync(fd);
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): EntryKind {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

/** Awaits a system call; its error becomes a coded one. */
async function run<T>(operation: string, path: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw fromSystemError(operation, path, error);
  }
}

/** As `run`, but nothing at all where the path leads nowhere. */
async function runIfPresent<T>(operation: string, path: string, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (hasErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw fromSystemError(operation, path, error);
  }
}
