import { CodedError, ErrorCode } from "@millrace/errors";

/** The error for a setting that cannot be used; `what` completes the sentence "The setting KEY ...". */
export function invalid(key: string, what: string): CodedError {
  return new CodedError(ErrorCode.InvalidConfiguration, `The setting ${key} ${what}.`, { details: { key } });
}
