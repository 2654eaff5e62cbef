import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";

/** What a request that ran out of time ends with, reads and writes. */
const OUT_OF_TIME: ReadonlySet<number> = new Set<number>([
  ErrorCode.RequestTimeout,
  ErrorCode.OutcomeUnknown,
]);

/** True for a request that the server did not answer in time, or whose answer was lost. */
export function isOutOfTime(error: unknown): error is CodedError {
  return isCodedError(error) && OUT_OF_TIME.has(error.code);
}

/** True for a read that a server was there for, and refused until its time was over, see `RequestQueue`. */
export function isRefusal(error: unknown): error is CodedError {
  return isCodedError(error, ErrorCode.RequestTimeout) && isCodedError(error.cause);
}
