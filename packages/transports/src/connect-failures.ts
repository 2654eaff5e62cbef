import { CodedError, ErrorCode } from "@millrace/errors";
import type { ConnectOptions } from "./connect-options.ts";

/** What is known of an attempt that failed. */
export interface ConnectFailure {
  /** The carrier as the text names it; nothing for plain TCP. */
  readonly over?: string;
  readonly reason: string;
  readonly cause?: Error | undefined;
}

/** CannotEstablishConnection with host, port and cause. */
export function cannotConnect(
  { host, port }: Pick<ConnectOptions, "host" | "port">,
  { over, reason, cause }: ConnectFailure,
): CodedError {
  const carrier = over === undefined ? "" : ` over ${over}`;
  const text = `Cannot connect to ${host}:${port}${carrier} (${reason}).`;
  const details = { host, port };
  return new CodedError(
    ErrorCode.CannotEstablishConnection,
    text,
    cause === undefined ? { details } : { details, cause },
  );
}

/** Aborted with host and port: the signal of the attempt came first. */
export function connectingGivenUp({
  host,
  port,
  signal,
}: Pick<ConnectOptions, "host" | "port" | "signal">): CodedError {
  const text = `Connecting to ${host}:${port} was given up.`;
  return new CodedError(ErrorCode.Aborted, text, { details: { host, port }, cause: signal?.reason });
}
