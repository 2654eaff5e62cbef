import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { diskError } from "../disk-error.ts";

/** The asynchronous system calls an open file needs; `node:fs` has this shape, tests give a failing one. */
export interface FileCalls {
  writev(
    fd: number,
    parts: readonly Uint8Array[],
    position: number,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ): void;
  read(
    fd: number,
    target: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: NodeJS.ErrnoException | null, length: number) => void,
  ): void;
  fdatasync(fd: number, done: (error: NodeJS.ErrnoException | null) => void): void;
}

/** A system error of `node:fs` as the disk's coded error; a coded error stays as it is. */
export function fromSystemError(operation: string, path: string, error: unknown): CodedError {
  if (isCodedError(error)) return error;
  const errno = (error as NodeJS.ErrnoException | null)?.code ?? "UNKNOWN";
  return diskError({ operation, path, errno, cause: error });
}

/** True for a system error with one of the given names, or a disk's coded error that carries one. */
export function hasErrno(error: unknown, ...names: readonly string[]): boolean {
  const errno = isCodedError(error, ErrorCode.IoError)
    ? String(error.details["errno"])
    : ((error as NodeJS.ErrnoException | null)?.code ?? "");
  return names.includes(errno);
}
