import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";

/** The fault of a file that cannot be trusted any more; keeps what went wrong as its cause. */
export function fenced(cause: CodedError): CodedError {
  if (cause.code === ErrorCode.FileFenced) return cause;
  const text = "A write or sync of the partition's files failed; start again to go on.";
  return new CodedError(ErrorCode.FileFenced, text, { details: cause.details, cause });
}

/** The error when it is one of the world's; anything else is our own fault and goes on up. */
export function asCodedError(error: unknown): CodedError {
  if (isCodedError(error)) return error;
  throw error;
}
