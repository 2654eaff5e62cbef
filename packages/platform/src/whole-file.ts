import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk, DiskFile } from "./disk.ts";
import { diskError } from "./disk-error.ts";
import { diskPathNames, parentDiskPath } from "./disk-path.ts";

/** `Disk.readWhole` in terms of the other calls: at most `lengthMax` bytes, nothing for an absent file. */
export async function readWholeFile(
  disk: Disk,
  path: string,
  lengthMax: number,
): Promise<Uint8Array | undefined> {
  const file = await disk.openFile(path, "read").catch(ifAbsent);
  if (file === undefined) return undefined;
  try {
    const length = await file.length();
    if (length > lengthMax) throw diskError({ operation: "read", path, errno: "EMSGSIZE" });
    const bytes = new Uint8Array(length);
    return bytes.subarray(0, await readAll(file, bytes));
  } finally {
    await file.close();
  }
}

/** `Disk.writeWhole` of one disk: one at a time, so that two for one path cannot share the temporary file. */
export class WholeWrites {
  readonly #disk: Disk;
  #last: Promise<unknown> = Promise.resolve();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** See `Disk.writeWhole`. */
  write(path: string, bytes: Uint8Array): Promise<void> {
    const write = () => writeWholeFile(this.#disk, path, bytes);
    const written = this.#last.then(write, write);
    this.#last = written.catch(() => undefined);
    return written;
  }
}

/**
 * In terms of the other calls: `{path}.new` is written and synced, renamed, the directory synced. A failure
 * leaves the old content.
 */
async function writeWholeFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  diskPathNames(path);
  const temporaryPath = `${path}.new`;
  await disk.removeFile(temporaryPath);
  const file = await disk.openFile(temporaryPath, "create");
  try {
    await writeAndSync(file, bytes);
    await file.close();
    await disk.rename(temporaryPath, path);
  } catch (error) {
    await discard(disk, file, temporaryPath);
    throw error;
  }
  await disk.syncDirectory(parentDiskPath(path));
}

/**
 * Clears up after a failure, which is what gets reported; a second one only leaves a file that the next call
 * removes.
 */
async function discard(disk: Disk, file: DiskFile, temporaryPath: string): Promise<void> {
  await file.close().catch(() => undefined);
  await disk.removeFile(temporaryPath).catch(() => undefined);
}

function ifAbsent(error: unknown): undefined {
  const errno = isCodedError(error, ErrorCode.IoError) ? error.details["errno"] : undefined;
  if (errno !== "ENOENT" && errno !== "ENOTDIR") throw error;
}

function readAll(file: DiskFile, target: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    file.read(target, 0, (error, length) => (error === undefined ? resolve(length) : reject(error)));
  });
}

function writeAndSync(file: DiskFile, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown) => (error === undefined ? resolve() : reject(error));
    file.write([bytes], 0, (error) => (error === undefined ? file.datasync(settle) : reject(error)));
  });
}
