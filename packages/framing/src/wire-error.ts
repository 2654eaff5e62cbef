const WIRE_ERROR = Symbol.for("millrace.wire-error");

/** Why bytes could not be read, or a value could not be written. A closed list. */
export type WireReason =
  | "unexpected_end"
  | "reserved_not_zero"
  | "invalid_utf8"
  | "empty_name"
  | "unknown_kind"
  | "trailing_bytes"
  | "bad_length"
  | "bad_value"
  | "too_many"
  | "bad_seal";

/**
 * Bytes do not follow their format.
 *
 * `position` counts bytes from the start of the sequence that was handed to the codec and points at the field
 * that is wrong. Packages above turn it into a `CodedError` at their edge. It is known by a symbol, so two
 * copies of this package in one process understand each other.
 */
export class WireError extends Error {
  readonly [WIRE_ERROR] = true;
  readonly reason: WireReason;
  readonly position: number;

  constructor(reason: WireReason, position: number) {
    super(`${reason.replaceAll("_", " ")} at byte ${position}`);
    this.name = "WireError";
    this.reason = reason;
    this.position = position;
  }
}

/**
 * True when `error` is a `WireError`, whichever copy of this package made it; narrows to `reason` when given.
 */
export function isWireError(error: unknown, reason?: WireReason): error is WireError {
  const known = typeof error === "object" && error !== null && WIRE_ERROR in error;
  return known && (reason === undefined || (error as WireError).reason === reason);
}
