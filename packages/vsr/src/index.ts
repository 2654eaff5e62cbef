/**
 * Viewstamped Replication as a pure state machine: inputs in, outputs out; no clock, no I/O.
 *
 * ```ts
 * import { createReplica } from "@millrace/vsr";
 *
 * const replica = createReplica({
 *   replica: 0, replicaCount: 1, cluster: 0n, prepareQueueDepth: 32,
 *   recovered: { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n },
 *   checksumOf: (fields) => fields.parent * 31n + BigInt(fields.op),
 * });
 * const request = {
 *   client: 7n, session: 0, request: 1n, operation: 160, user: 0, timestamp: 1, body: "x", bodyChecksum: 0n,
 * };
 * replica.step({ kind: "request", request }); // [{ kind: "journal-write", prepare: { op: 1, ... } }]
 * const checksum = replica.lastChecksum;
 * replica.step({ kind: "journal-written", op: 1, checksum }); // [{ kind: "apply", ... }]
 * ```
 *
 * @packageDocumentation
 */
export {
  type Admission,
  CLIENTS_MAX,
  ClientTable,
  type ClientTableOptions,
  type Registration,
} from "./client-table/client-table.ts";
export type { CachedReply, Session } from "./client-table/session.ts";
export { settle } from "./client-table/settle.ts";
export { CLUSTER_TIMING, type ClusterTiming } from "./cluster-timing.ts";
export { createReplica, GROUP_REPLICAS_MAX } from "./create-replica.ts";
export type { ReplicaStatus, ViewCause } from "./group-state.ts";
export type { Input } from "./input.ts";
export type { AskToLead } from "./messages/ask-to-lead.ts";
export type { CommitMessage } from "./messages/commit.ts";
export type { DoViewChange } from "./messages/do-view-change.ts";
export type { PrepareGone } from "./messages/prepare-gone.ts";
export type { PrepareMessage } from "./messages/prepare-message.ts";
export type { PrepareOk } from "./messages/prepare-ok.ts";
export type { ReplicaMessage } from "./messages/replica-message.ts";
export type { RequestPrepare } from "./messages/request-prepare.ts";
export type { RequestStartView } from "./messages/request-start-view.ts";
export type { StartView } from "./messages/start-view.ts";
export type { StartViewChange } from "./messages/start-view-change.ts";
export type { ViewNumber } from "./messages/view-number.ts";
export type { MutationName, Mutations } from "./mutations.ts";
export type { Output, ReplyFields } from "./output.ts";
export { PIPELINE_ALONE_DEPTH_MAX, PIPELINE_DEPTH_MAX } from "./pipeline.ts";
export {
  type Prepare,
  type PrepareFields,
  type Request,
  SERVER_CLIENT,
  SessionOperation,
} from "./prepare.ts";
export { headerOf, type PrepareHeader } from "./prepare-header.ts";
export { type Quorums, quorums, REPLICAS_MAX } from "./quorums.ts";
export type { Replica } from "./replica.ts";
export type { Recovered, ReplicaOptions } from "./replica-options.ts";
