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
  const { view } = request.messageLease;
  if (commandAt(view, 0) !== WireCommand.request) return ErrorCode.InvalidCommand;
  if (operationByByte(request.operation)?.requested !== true) return ErrorCode.InvalidCommand;
  if (!hasClientAt(view, 0)) return ErrorCode.InvalidCommand;
  if (request.operation === Operation.Register && hasNumbers(view)) return ErrorCode.InvalidCommand;
  return isBodyIntact(shard, request) ? 0 : ErrorCode.InvalidFormat;
}

/** False when a replicated operation or a Logout lacks the session or the request number it must carry. */
export function carriesNumbers(request: ClientRequest): boolean {
  const { view } = request.messageLease;
  return isSet(sessionLowAt, sessionHighAt, view) && hasRequestNumber(view);
}

function hasNumbers(view: DataView): boolean {
  return isSet(sessionLowAt, sessionHighAt, view) || hasRequestNumber(view);
}

function hasRequestNumber(view: DataView): boolean {
  return isSet(requestLowAt, requestHighAt, view);
}

type ReadHalf = (view: DataView, position: number) => number;

function isSet(low: ReadHalf, high: ReadHalf, view: DataView): boolean {
  return low(view, 0) !== 0 || high(view, 0) !== 0;
}

/** The checksum is optional and is hashed only when it was given. */
function isBodyIntact(shard: Shard, request: ClientRequest): boolean {
  if (!hasRequestChecksumAt(request.messageLease.view, 0)) return true;
  return request.givenChecksum === shard.kernel.hashBytes(request.body);
}
