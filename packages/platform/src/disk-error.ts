import { CodedError, ErrorCode } from "@millrace/errors";

/** System codes that mean "no room": no space, no quota, file size limit. */
const NO_ROOM: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** System codes that mean that no more files may be open, and what to do about each. */
const NO_HANDLE: ReadonlyMap<string, string> = new Map([
  ["EMFILE", "the process has as many files open as it may: raise its limit of open files"],
  ["ENFILE", "the machine has as many files open as it may: raise fs.file-max"],
]);

/** What a disk was asked when it failed. */
export interface DiskFailure {
  /** The call in one word, for example `write`. */
  readonly operation: string;
  readonly path: string;
  /** The system's name of the error, for example `EIO`. */
  readonly errno: string;
  readonly cause?: unknown;
}

/**
 * The coded error of a failed disk call: `DiskFull` for no space or quota, `IoError` for the rest.
 * Details carry `operation`, `path` and `errno`; every `Disk` makes its errors here, so they look alike.
 */
export function diskError(failure: DiskFailure): CodedError {
  const { operation, path, errno, cause } = failure;
  const full = NO_ROOM.has(errno);
  const hint = NO_HANDLE.get(errno);
  const text = full
    ? `The disk has no room for ${path} (${errno}): free space or raise the quota.`
    : `Cannot ${operation} ${path} (${errno})${hint === undefined ? "" : `: ${hint}`}.`;
  return new CodedError(full ? ErrorCode.DiskFull : ErrorCode.IoError, text, {
    details: { operation, path, errno },
    ...(cause === undefined ? {} : { cause }),
  });
}
