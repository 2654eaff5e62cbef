/**
 * Error codes and the three kinds of errors.
 *
 * ```ts
 * import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
 *
 * const error = new CodedError(ErrorCode.TopicIdNotFound, "Topic 7 does not exist in stream 1.", {
 *   details: { stream: 1, topic: 7 },
 * });
 * isCodedError(error, 2010); // true
 * ```
 *
 * @packageDocumentation
 */
export { assert, InvariantError } from "./assert.ts";
export { CodedError, type CodedErrorOptions, type ErrorDetails, isCodedError } from "./coded-error.ts";
export { ERROR_ROWS, type ErrorRow } from "./error-rows.table.ts";
export { ErrorCode, type ErrorName, errorName, errorText, isKnownErrorCode } from "./error-table.ts";
