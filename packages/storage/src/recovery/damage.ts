import { CodedError, ErrorCode, type ErrorDetails } from "@millrace/errors";

/** The error that names damaged bytes: `PartitionDamaged` with the file and what is known about the place. */
export function damaged(message: string, details: ErrorDetails): CodedError {
  return new CodedError(ErrorCode.PartitionDamaged, message, { details });
}
