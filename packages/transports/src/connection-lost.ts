import { CodedError, ErrorCode } from "@millrace/errors";

/** The connection ended before its time; the cause is the system's error when there was one. */
export function disconnected(cause?: unknown): CodedError {
  const reason = systemCode(cause);
  const text = `The connection was lost${reason === "" ? "" : ` (${reason})`}.`;
  return new CodedError(ErrorCode.Disconnected, text, {
    ...(cause === undefined || cause === null ? {} : { cause }),
    ...(reason === "" ? {} : { details: { errno: reason } }),
  });
}

/** The system's name of an error, `ECONNRESET` for example; empty for what has none. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : "";
}
