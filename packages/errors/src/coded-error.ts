import { errorName, errorText } from "./error-table.ts";

const CODED_ERROR = Symbol.for("millrace.coded-error");

/** Ids and limits that explain an error. Never payloads, never secrets. */
export type ErrorDetails = Readonly<Record<string, string | number | bigint | boolean>>;

/** What a `CodedError` may carry besides its code and message. */
export interface CodedErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/**
 * The world is wrong: bad bytes, a full disk, an unknown topic.
 *
 * Carries a number of the error table, a sentence that says what was wrong and what to do, and details (ids
 * and limits only). It is known by a symbol, so two copies of this package in one process understand each
 * other.
 */
export class CodedError extends Error {
  readonly [CODED_ERROR] = true;
  /** The number on the wire, see `error-rows.table.ts`. */
  readonly code: number;
  readonly details: ErrorDetails;

  constructor(code: number, message?: string, options: CodedErrorOptions = {}) {
    super(
      message ?? errorText(code).replaceAll("_", " "),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = errorName(code);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/**
 * True when `error` is a `CodedError`, whichever copy of this package made it; narrows to `code` when given.
 */
export function isCodedError(error: unknown, code?: number): error is CodedError {
  const known = typeof error === "object" && error !== null && CODED_ERROR in error;
  return known && (code === undefined || (error as CodedError).code === code);
}
