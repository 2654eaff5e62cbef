import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";

/** An offset that could not be stored, and why. */
export interface FailedCommit {
  readonly partitionId: number;
  readonly offset: number;
  readonly error: unknown;
  /** The next commit tries it again; false when there will be none. */
  readonly isKept: boolean;
}

/**
 * The error of a commit: the code of what went wrong, with the offset in front and what becomes of it behind.
 * Storing an offset twice does no harm, so nobody has to look whether an answer was lost.
 */
export function notStored({ partitionId, offset, error, isKept }: FailedCommit): CodedError {
  const code = isCodedError(error) ? error.code : ErrorCode.Error;
  const details = isCodedError(error) ? error.details : {};
  const becomes = isKept
    ? " The offset is kept and goes with the next commit; storing it twice does no harm."
    : " Its message comes again to whoever reads on from the stored offset.";
  const message = `Offset ${offset} of partition ${partitionId} was not stored. ${reasonOf(error)}${becomes}`;
  return new CodedError(code, message, {
    cause: error,
    details: { ...details, partitionId, offset: BigInt(offset) },
  });
}

function reasonOf(error: unknown): string {
  if (isCodedError(error, ErrorCode.OutcomeUnknown)) return "The answer of the server did not come.";
  return error instanceof Error ? error.message : String(error);
}
