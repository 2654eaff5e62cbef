import type { CodedError } from "@millrace/errors";

/**
 * What a directory entry or path is. Links and special files are `other` and are never followed or touched.
 */
export type EntryKind = "file" | "directory" | "other";

/** One name in a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** How a file is opened. `create` fails when the name exists; `read-write` creates nothing. */
export type OpenMode = "read" | "read-write" | "create" | "create-or-open";

/** Space on the file system that holds a path, in bytes. */
export interface DiskSpace {
  readonly freeLength: number;
  readonly totalLength: number;
}

/**
 * An open file. Positions and lengths are bytes. Callbacks are called once, never from within the call.
 *
 * Hot calls take callbacks, cold calls promises. Errors are `CodedError`: `DiskFull` for no space or quota,
 * `IoError` for the rest, each with the path and the system's code in its details.
 */
export interface DiskFile {
  readonly path: string;
  /**
   * Writes all parts one after another from `position`; short writes are continued inside. Parts are lent
   * until `done`.
   */
  write(parts: readonly Uint8Array[], position: number, done: (error?: CodedError) => void): void;
  /**
   * Reads until `target` is full or the file ends; `length` says how much came. `target` is lent until
   * `done`.
   */
  read(
    target: Uint8Array,
    position: number,
    done: (error: CodedError | undefined, length: number) => void,
  ): void;
  /**
   * Makes written bytes survive power loss. After a failure the file is never trusted again: see
   * `FileFenced`.
   */
  datasync(done: (error?: CodedError) => void): void;
  /** Asks for space for `length` bytes without changing the file's length; a refusal is not an error. */
  preallocate(length: number): Promise<void>;
  truncate(length: number): Promise<void>;
  length(): Promise<number>;
  close(): Promise<void>;
}

/** An exclusive right that ends with the process or with `release`. */
export interface DiskLock {
  release(): Promise<void>;
}

/** The file system below one data directory. Paths are relative to it, with `/`, without `..`. */
export interface Disk {
  /** Where the paths lead, for messages to people. */
  readonly root: string;
  /**
   * Calls back when a group of long writes had best begin: when the event loop has looked at everything that
   * came in with the first of them. Where it is missing, at once: writes are made elsewhere meanwhile.
   */
  readonly gather?: ((callback: () => void) => void) | undefined;
  openFile(path: string, mode: OpenMode): Promise<DiskFile>;
  /** Entries sorted by name; an absent directory is an empty list. */
  readDirectory(path: string): Promise<readonly DirectoryEntry[]>;
  /** Makes the directory and its parents; no error when it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Makes names created, renamed or removed in `path` survive power loss. */
  syncDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; no error when it is absent. */
  removeFile(path: string): Promise<void>;
  /** Removes a directory and all below it; no error when it is absent. */
  removeDirectory(path: string): Promise<void>;
  stat(path: string): Promise<{ readonly kind: EntryKind; readonly length: number } | undefined>;
  /**
   * Whole content of a small file (at most `lengthMax` bytes, else `IoError`), or nothing when it is absent.
   */
  readWhole(path: string, lengthMax: number): Promise<Uint8Array | undefined>;
  /**
   * Writes a small file so that after a crash either the old or the whole new content is there: temporary,
   * sync, rename, sync directory.
   */
  writeWhole(path: string, bytes: Uint8Array): Promise<void>;
  space(): Promise<DiskSpace>;
  /**
   * Takes the lock file at `path` for this process, or answers `DataDirectoryInUse` with the holder's process
   * id.
   */
  lock(path: string): Promise<DiskLock>;
}
