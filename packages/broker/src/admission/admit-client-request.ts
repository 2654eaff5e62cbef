import { ErrorCode } from "@millrace/errors";
import {
  CommandCode,
  commandByCode,
  commandByOperation,
  EvictionReason,
  isLegacyLogin,
  Operation,
} from "@millrace/protocol";
import { COMMAND_HANDLERS } from "../commands/command-handlers.ts";
import { refuseWith } from "../commands/handler.ts";
import { evict } from "../evictions/evict.ts";
import { directFields } from "../replies/direct-fields.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import { login } from "../sessions/login.ts";
import { logout } from "../sessions/logout.ts";
import { readWithoutLogin } from "../sessions/read-without-login.ts";
import { hasLostToken } from "../sessions/user-sessions.ts";
import type { Shard } from "../shard.ts";
import { carriesNumbers, checkHeader } from "./check-header.ts";
import { followRequest } from "./follow-request.ts";

/**
 * Decides what becomes of one request: the header first, then whether the client may speak at all, then the
 * command.
 *
 * What a command checks for itself comes in this order: body decodes, static bounds, target exists,
 * permission, business rule.
 * @see wire-protocol sections 2.2, 3.2, 5.2
 */
export function admitClientRequest(shard: Shard, request: ClientRequest): void {
  shard.metrics.requests.add(1);
  if (shard.platform.tracer !== undefined) followRequest(shard.platform.tracer, request);
  const refusal = checkHeader(shard, request);
  const { session } = request.connection;
  if (refusal !== 0) refuse(shard, request, refusal);
  else if (session !== undefined && hasLostToken(shard, session))
    evict(shard, request, EvictionReason.NoSession);
  else if (request.operation === Operation.Register) login(shard, request);
  else if (request.operation === Operation.Logout)
    withEmptyBody(shard, request, () => logout(shard, request));
  else if (request.operation === Operation.NonReplicated) admitDirect(shard, request);
  else admitReplicated(shard, request);
}

/**
 * Reads and ping: before login only ping is served, and the read that brings its credentials along; the two
 * legacy logins end the connection.
 */
function admitDirect(shard: Shard, request: ClientRequest): void {
  const { code, connection } = request;
  const command = commandByCode(code);
  if (isLegacyLogin(code)) evict(shard, request, EvictionReason.MalformedLogin);
  else if (code === CommandCode.Ping) {
    withEmptyBody(shard, request, () => request.answer([], directFields(shard, connection)));
  } else if (code === CommandCode.ReadWithoutLogin) readWithoutLogin(shard, request);
  else if (connection.session === undefined) refuse(shard, request, ErrorCode.Unauthenticated);
  else if (command === undefined) refuse(shard, request, ErrorCode.InvalidCommand);
  else if (command.operation !== Operation.NonReplicated)
    refuse(shard, request, ErrorCode.FeatureUnavailable);
  else run(shard, request, code);
}

/** Writes: they need a session, and one that no later login of the same client id has fenced. */
function admitReplicated(shard: Shard, request: ClientRequest): void {
  const { session } = request.connection;
  if (session === undefined) evict(shard, request, EvictionReason.NoSession);
  else if (session.isFenced) evict(shard, request, EvictionReason.SessionTooLow);
  else if (!carriesNumbers(request)) refuse(shard, request, ErrorCode.InvalidCommand);
  else run(shard, request, commandByOperation(request.operation)?.code ?? 0);
}

/** A command of the protocol that has no handler is unavailable, never silent. */
function run(shard: Shard, request: ClientRequest, code: number): void {
  const handler = COMMAND_HANDLERS.get(code);
  const { session } = request.connection;
  if (handler === undefined || session === undefined) {
    refuse(shard, request, ErrorCode.FeatureUnavailable);
    return;
  }
  try {
    handler(shard, request, session);
  } catch (error) {
    refuseWith(shard, request, error);
  }
}

/** What is served without a handler has no body, and is refused with one as every other command is. */
function withEmptyBody(shard: Shard, request: ClientRequest, serve: () => void): void {
  if (request.body.length === 0) serve();
  else refuse(shard, request, ErrorCode.InvalidCommand);
}

function refuse(shard: Shard, request: ClientRequest, code: number): void {
  shard.metrics.refusals.add(1);
  request.refuse(code, directFields(shard, request.connection));
}
