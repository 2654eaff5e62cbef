import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";

/** The fault of a file that cannot be trusted any more; keeps what went wrong as its cause. */
export function fenced(cause: CodedError): CodedError {
  if (cause.code === ErrorCode.FileFenced) return cause;
  const text = "A write or sync of the partition's files failed; start again to go on.";
  return new CodedError(ErrorCode.FileFenced, text, { details: cause.details, cause });
}

/** System codes that mean that no file handle was left. */
const NO_HANDLE: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

/** True for what a disk refuses now, having touched nothing, and may do later: no room, no file handle. */
export function mayPass(error: unknown): boolean {
  if (isCodedError(error, ErrorCode.DiskFull)) return true;
  return isCodedError(error, ErrorCode.IoError) && NO_HANDLE.has(error.details["errno"]);
}

/** The error when it is one of the world's; anything else is our own fault and goes on up. */
export function asCodedError(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  throw error;
}
