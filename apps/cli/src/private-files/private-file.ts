import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CodedError, ErrorCode } from "@millrace/errors";

/** Permission bits of everybody but the owner. */
const OTHERS = 0o077;

/**
 * Text of a file that only its owner may read; undefined when it is not there. One that others may read is
 * refused, as `ssh` does with keys: who could have read it is unknown. Windows has no such bits; there the
 * rights of the folder count.
 * @throws CodedError InvalidConfiguration for a file that others may read; the system's errors
 */
export function readPrivateFile(path: string): string | undefined {
  try {
    const isShared = process.platform !== "win32" && (statSync(path).mode & OTHERS) !== 0;
    if (isShared) throw unusableFile(`${path} can be read by others; run: chmod 600 ${path}`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes such a file whole or not at all, with its folder when that is not there. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}

/** The error for a file of ours that cannot be used; the message says what to do. */
export function unusableFile(message: string): CodedError {
  return new CodedError(ErrorCode.InvalidConfiguration, message);
}
