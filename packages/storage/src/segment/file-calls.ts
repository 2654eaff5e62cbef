import { ErrorCode, isCodedError } from "@millrace/errors";
import type { DiskFile } from "@millrace/platform";

/** True when a disk says that what was to be opened is not there. */
export function isAbsent(error: unknown): boolean {
  return isCodedError(error, ErrorCode.IoError) && error.details["errno"] === "ENOENT";
}

/** Reads until `target` is full or the file ends; answers how many bytes came. */
export function readAt(file: DiskFile, target: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    file.read(target, position, (error, length) => (error === undefined ? resolve(length) : reject(error)));
  });
}

/** Writes `bytes` at `position`. */
export function writeAt(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    file.write([bytes], position, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** Makes what was written to `file` survive power loss. */
export function datasync(file: DiskFile): Promise<void> {
  return new Promise((resolve, reject) => {
    file.datasync((error) => (error === undefined ? resolve() : reject(error)));
  });
}
