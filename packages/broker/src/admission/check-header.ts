import { ErrorCode } from "@millrace/errors";
import {
  commandAt,
  hasClientAt,
  hasRequestChecksumAt,
  requestHighAt,
  requestLowAt,
  sessionHighAt,
  sessionLowAt,
  WireCommand,
} from "@millrace/framing";
import { Operation, operationByByte } from "@millrace/protocol";
import type { ClientRequest } from "../sessions/client-request.ts";
import type { Shard } from "../shard.ts";

/**
 * Checks a request's header and the checksum of its body; 0, or the code to refuse it with.
 *
 * Frames that the reference drops in silence (a foreign command, an unknown operation, client id 0) are
 * answered with 3: no client is left waiting, and no official one sends such a frame. Session and request
 * numbers of replicated operations are checked once there is a session, see `carriesNumbers`.
 * @see wire-protocol section 2.2
 */
export function checkHeader(shard: Shard, request: ClientRequest): number {
  const { home, homePosition: at } = request.messageLease;
  const { view } = home;
  if (commandAt(view, at) !== WireCommand.request) return ErrorCode.InvalidCommand;
  if (operationByByte(request.operation)?.requested !== true) return ErrorCode.InvalidCommand;
  if (!hasClientAt(view, at)) return ErrorCode.InvalidCommand;
  if (request.operation === Operation.Register && hasNumbers(view, at)) return ErrorCode.InvalidCommand;
  return isBodyIntact(shard, request) ? 0 : ErrorCode.InvalidFormat;
}

/** False when a replicated operation or a Logout lacks the session or the request number it must carry. */
export function carriesNumbers(request: ClientRequest): boolean {
  const { home, homePosition } = request.messageLease;
  return hasSession(home.view, homePosition) && hasRequestNumber(home.view, homePosition);
}

function hasNumbers(view: DataView, at: number): boolean {
  return hasSession(view, at) || hasRequestNumber(view, at);
}

function hasSession(view: DataView, at: number): boolean {
  return sessionLowAt(view, at) !== 0 || sessionHighAt(view, at) !== 0;
}

function hasRequestNumber(view: DataView, at: number): boolean {
  return requestLowAt(view, at) !== 0 || requestHighAt(view, at) !== 0;
}

/** The checksum is optional and is hashed only when it was given. */
function isBodyIntact(shard: Shard, request: ClientRequest): boolean {
  const { home, homePosition } = request.messageLease;
  if (!hasRequestChecksumAt(home.view, homePosition)) return true;
  return request.givenChecksum === shard.kernel.hashBytes(request.body);
}
