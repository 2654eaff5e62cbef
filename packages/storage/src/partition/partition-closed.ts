import { CodedError, ErrorCode } from "@millrace/errors";

/** The refusal of whatever comes to a partition after its close. */
export function partitionClosed(): CodedError {
  return new CodedError(ErrorCode.ShuttingDown, "The partition is closed.");
}
