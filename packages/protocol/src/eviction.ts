import { ErrorCode } from "@millrace/errors";

/** Why a server ends a session; the byte at offset 255 of an eviction frame. */
export const EvictionReason = {
  NoSession: 1,
  ClientReleaseTooLow: 2,
  ClientReleaseTooHigh: 3,
  InvalidRequestOperation: 4,
  InvalidRequestBody: 5,
  InvalidRequestBodySize: 6,
  SessionTooLow: 7,
  SessionReleaseMismatch: 8,
  InvalidCredentials: 9,
  InvalidToken: 10,
  UserInactive: 11,
  SessionError: 12,
  StaleClient: 13,
  IncompatibleProtocol: 14,
  MalformedLogin: 15,
} as const;

/** The window of protocol versions that an eviction with reason 14 carries. */
export interface EvictionVersions {
  readonly serverProtocolVersion: number;
  readonly serverProtocolVersionMin: number;
}

/** Reasons that clients report with a code of their own; every other reason, known or not, is 40. */
const CODES: ReadonlyMap<number, number> = new Map([
  [EvictionReason.ClientReleaseTooLow, ErrorCode.InvalidCommand],
  [EvictionReason.ClientReleaseTooHigh, ErrorCode.InvalidCommand],
  [EvictionReason.InvalidRequestOperation, ErrorCode.InvalidCommand],
  [EvictionReason.InvalidRequestBody, ErrorCode.InvalidCommand],
  [EvictionReason.InvalidRequestBodySize, ErrorCode.InvalidCommand],
  [EvictionReason.InvalidCredentials, ErrorCode.InvalidCredentials],
  [EvictionReason.InvalidToken, ErrorCode.InvalidPersonalAccessToken],
  [EvictionReason.StaleClient, ErrorCode.StaleClient],
  [EvictionReason.IncompatibleProtocol, ErrorCode.IncompatibleProtocolVersion],
  [EvictionReason.MalformedLogin, ErrorCode.InvalidFormat],
]);

/**
 * The error a client reports for an eviction.
 *
 * @param versions  the frame's window, when known: reason 14 with a window outside `1 <= min <= max` means no
 *   more
 *                  than Unauthenticated
 * @see specification, wire protocol, section 2.4
 */
export function errorCodeOfEviction(reason: number, versions?: EvictionVersions): number {
  const malformed =
    reason === EvictionReason.IncompatibleProtocol && versions !== undefined && !isWindow(versions);
  return malformed ? ErrorCode.Unauthenticated : (CODES.get(reason) ?? ErrorCode.Unauthenticated);
}

function isWindow({ serverProtocolVersion, serverProtocolVersionMin }: EvictionVersions): boolean {
  return serverProtocolVersionMin >= 1 && serverProtocolVersionMin <= serverProtocolVersion;
}
