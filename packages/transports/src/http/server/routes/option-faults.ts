import { ErrorCode, isCodedError } from "@millrace/errors";
import type { OptionEntries } from "@millrace/protocol";
import { errorOfCode, HttpError } from "../../errors/http-error.ts";
import type { Fields } from "../../json/fields.ts";

/**
 * The checks a server makes of options. Each throws the CodedError it refuses them with, whose `details.key`
 * names the option.
 */
export interface OptionChecks {
  createTopic(options: OptionEntries, partitionsCount: number): void;
  updateTopic(options: OptionEntries): void;
  /** For streams and users, which have none. */
  none(options: OptionEntries): void;
}

const CODES: ReadonlySet<number> = new Set([
  ErrorCode.UnsupportedOptionKey,
  ErrorCode.InvalidOptionValue,
  ErrorCode.InvalidTopicSize,
]);

/**
 * Waits for an answer; when the options are refused, says which one, and why. The reply itself is only a
 * code, so `check` looks at the same options again; it is called after a refusal and for nothing else.
 *
 * @param fields  the body: a typed field is named as such, what stands in `options` behind that word
 */
export async function namingOption<T>(answer: Promise<T>, fields: Fields, check: () => void): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof HttpError && CODES.has(error.id) ? named(error, fields, check) : error;
  }
}

function named(refusal: HttpError, fields: Fields, check: () => void): HttpError {
  try {
    check();
  } catch (error) {
    if (!isCodedError(error, refusal.id)) return refusal;
    const key = error.details["key"];
    const field = typeof key === "string" ? fieldOf(key, fields) : refusal.field;
    return errorOfCode(refusal.id, { field, reason: error.message });
  }
  return refusal;
}

function fieldOf(key: string, fields: Fields): string {
  return fields.has(key) ? key : `options.${key}`;
}
