import { type CodedError, ErrorCode, errorText } from "@millrace/errors";
import { writeJson } from "../json/write-json.ts";
import { FIELD_OF_CODE, STATUS_OF_CODE } from "./status-of-code.table.ts";

/** Seconds in `Retry-After`, where trying again makes sense. */
const RETRY_AFTER_SECONDS = 1;

/** Characters of a field's name that are repeated: it may hold a key that a client made up. */
const FIELD_SHOWN_MAX = 64;

/** What an answer with an error says: status, and the four fields of its JSON body. */
export class HttpError extends Error {
  readonly status: number;
  /** Number of the error table, or the status for errors that the table does not have. */
  readonly id: number;
  /** Snake-case name. */
  readonly code: string;
  /** What of the request was wrong, in the words of the API. */
  readonly field: string | undefined;

  constructor(facts: {
    status: number;
    id: number;
    code: string;
    reason: string;
    field?: string | undefined;
  }) {
    super(facts.reason);
    this.name = "HttpError";
    this.status = facts.status;
    this.id = facts.id;
    this.code = facts.code;
    this.field = facts.field === undefined ? undefined : shownField(facts.field);
  }

  /** Seconds after which the client may try again, or undefined. */
  get retryAfterSeconds(): number | undefined {
    return this.status === 429 || this.status === 503 ? RETRY_AFTER_SECONDS : undefined;
  }

  /** The JSON text of the answer. */
  body(): string {
    const { id, code, field } = this;
    return writeJson({ id, code, reason: this.message, field: field ?? null });
  }
}

/**
 * The error for a code of the table.
 *
 * @param options.field  what was wrong; left out, the code decides where the API says so
 * @param options.reason  a sentence for people; left out, the code's own words
 */
export function errorOfCode(
  code: number,
  options: {
    readonly reason?: string | undefined;
    readonly field?: string | undefined;
    readonly status?: number;
  } = {},
): HttpError {
  const text = errorText(code);
  return new HttpError({
    status: options.status ?? STATUS_OF_CODE.get(code) ?? 400,
    id: code,
    code: text,
    reason: options.reason ?? sentence(text),
    field: options.field ?? FIELD_OF_CODE.get(code),
  });
}

/** The answer to an error with a code, such as one of a codec. */
export function errorOfCoded(error: CodedError, field?: string): HttpError {
  return errorOfCode(error.code, { reason: error.message, field });
}

/** An error that the table has no code for; its id is the status. */
export function plainError(status: number, code: string, reason: string): HttpError {
  return new HttpError({ status, id: status, code, reason });
}

/** A read of one thing that is not there. */
export function notFound(): HttpError {
  return plainError(404, "not_found", "Resource not found");
}

/** A body that is JSON but not of the shape the route needs. */
export function wrongShape(field: string, reason: string): HttpError {
  return errorOfCode(ErrorCode.InvalidCommand, { status: 422, field, reason });
}

/** A query or path that cannot be understood. */
export function badInput(field: string, reason: string): HttpError {
  return errorOfCode(ErrorCode.InvalidCommand, { status: 400, field, reason });
}

/** Whole characters, so that no half of a pair is shown. */
function shownField(field: string): string {
  return field.length <= FIELD_SHOWN_MAX ? field : [...field].slice(0, FIELD_SHOWN_MAX).join("");
}

function sentence(text: string): string {
  const words = text.replaceAll("_", " ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
