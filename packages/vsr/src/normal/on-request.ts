import { ErrorCode } from "@millrace/errors";
import type { ClientTable } from "../client-table/client-table.ts";
import type { GroupState } from "../group-state.ts";
import type { Output } from "../output.ts";
import { type Prepare, type Request, SERVER_CLIENT, SessionOperation } from "../prepare.ts";
import { broadcast } from "../send.ts";

/**
 * Numbers a client's request, or answers at once why not.
 *
 * Sends the prepare to the backups and hands it to the journal; its own prepareOk follows the journal write.
 * Where a client table is kept, its rules come first, then one request per client, then room in the pipeline.
 * What the host itself asks for (client 0) has no session and passes the table by.
 * @see Viewstamped Replication Revisited, section 4.1, steps 2 and 3; wire-protocol, section 5.3
 */
export function onRequest(state: GroupState, request: Request): readonly Output[] {
  if (!state.isPrimary || state.isAsking) return [reject(request, ErrorCode.TransientNotAccepted)];
  if (state.clientTable !== undefined && !isHostsOwn(request)) {
    const refusal = refuseBySession(state, state.clientTable, request);
    if (refusal !== undefined) return [refusal];
  }
  if (state.requestsFree === 0) return [reject(request, ErrorCode.TransientNotAccepted)];
  return prepareRequest(state, request);
}

/**
 * Sessions are for clients: a Register or Logout under the host's id is judged, and refused, like a
 * stranger's.
 */
function isHostsOwn({ client, operation }: Request): boolean {
  const { register, logout } = SessionOperation;
  return client === SERVER_CLIENT && operation !== register && operation !== logout;
}

function prepareRequest(state: GroupState, request: Request): readonly Output[] {
  const prepare = numbered(state, request);
  state.op = prepare.op;
  state.lastChecksum = prepare.checksum;
  state.pipeline.push(prepare);
  const write: Output = { kind: "journal-write", prepare };
  if (state.replicaCount === 1) return [write];
  const outputs = broadcast(state, { kind: "prepare", view: state.view, prepare });
  outputs.push(write);
  return outputs;
}

function numbered(state: GroupState, request: Request): Prepare {
  const prepare = {
    client: request.client,
    session: request.session,
    request: request.request,
    operation: request.operation,
    user: request.user,
    timestamp: request.timestamp,
    body: request.body,
    bodyChecksum: request.bodyChecksum,
    view: state.view,
    op: state.op + 1,
    parent: state.lastChecksum,
    checksum: 0n,
    replica: state.replica,
    commit: state.commit,
  };
  prepare.checksum = state.checksumOf(prepare);
  return prepare;
}

function refuseBySession(state: GroupState, table: ClientTable, request: Request): Output | undefined {
  if (request.operation === SessionOperation.register) return refuseRegister(state, table, request);
  const admission =
    request.operation === SessionOperation.logout ? table.admitLogout(request) : table.admit(request);
  switch (admission.kind) {
    case "execute":
      return refuseSecondRequest(state, request);
    case "evict":
      if (isYetToCome(state, request)) return reject(request, ErrorCode.TransientNotAccepted);
      return { kind: "evict", client: request.client, reason: admission.reason };
    case "drop":
      return { kind: "drop", reason: admission.reason, ...nameOf(request) };
    case "already-applied":
      return reject(request, ErrorCode.RequestAlreadyApplied);
    case "replay": {
      const { bodyChecksum: _, ...reply } = admission.reply;
      return { kind: "replay", ...reply };
    }
  }
}

/**
 * A session that was opened by an op above those this table has settled: a new primary that has yet to commit
 * what it took over, or a deposed one, cannot say that there is no such session.
 */
function isYetToCome({ replicaCount, op, pipeline }: GroupState, { session }: Request): boolean {
  return replicaCount > 1 && session > op - pipeline.count;
}

function refuseRegister(state: GroupState, table: ClientTable, request: Request): Output | undefined {
  const newcomers = state.pipeline.countOf(
    (other) => other.operation === SessionOperation.register && table.session(other.client) === undefined,
  );
  const registration = table.registrationOf(request.client, request.user, newcomers);
  if (registration === "other-user") return { kind: "evict", client: request.client, reason: 12 };
  const pending = state.pipeline.findLast((other) => other.client === request.client);
  if (pending !== undefined) return reject(request, ErrorCode.TransientNotCommitted);
  return registration === "full" ? reject(request, ErrorCode.TransientNotAccepted) : undefined;
}

/**
 * 57 for the request that is in flight already: its outcome is open. 58 for another one: it was not admitted.
 */
function refuseSecondRequest(state: GroupState, request: Request): Output | undefined {
  const pending = state.pipeline.findLast((other) => other.client === request.client);
  if (pending === undefined) return undefined;
  const same = pending.request === request.request;
  return reject(request, same ? ErrorCode.TransientNotCommitted : ErrorCode.TransientNotAccepted);
}

function reject(request: Request, code: 57 | 58 | 59): Output {
  return { kind: "reject", code, ...nameOf(request) };
}

function nameOf({ client, request, operation }: Request) {
  return { client, request, operation };
}
