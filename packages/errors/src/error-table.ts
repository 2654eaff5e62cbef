import { ERROR_ROWS } from "./error-rows.table.ts";

type Row = (typeof ERROR_ROWS)[number];

/** Name of an error in code, for example `StreamIdNotFound`. */
export type ErrorName = Row[1];

/** Number of every error by its name: `ErrorCode.TopicIdNotFound` is 2010. */
export const ErrorCode = Object.fromEntries(ERROR_ROWS.map(([code, name]) => [name, code])) as {
  readonly [Name in ErrorName]: Extract<Row, readonly [number, Name, string]>[0];
};

const rowByCode = new Map<number, Row>(ERROR_ROWS.map((row) => [row[0], row]));

/** True when the table holds `code`. */
export function isKnownErrorCode(code: number): boolean {
  return rowByCode.has(code);
}

/** Name of `code` in code, or `UnknownError` for a number the table does not hold. */
export function errorName(code: number): ErrorName | "UnknownError" {
  return rowByCode.get(code)?.[1] ?? "UnknownError";
}

/** Text form of `code` as HTTP and logs show it, or `unknown_error` for a number the table does not hold. */
export function errorText(code: number): string {
  return rowByCode.get(code)?.[2] ?? "unknown_error";
}
