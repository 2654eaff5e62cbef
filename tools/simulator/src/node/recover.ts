import { ClientTable, type Prepare, type Recovered, settle } from "@millrace/vsr";
import type { GroupOracle } from "../oracle/group-oracle.ts";
import type { SeedPlan } from "../seed-plan.ts";
import { AppendLog } from "./append-log.ts";
import type { GroupStore } from "./group-store.ts";
import { encodeOffset } from "./reply-body.ts";

/** What a start makes of a store. */
export interface Recovery {
  readonly log: AppendLog;
  readonly table: ClientTable | undefined;
  readonly recovered: Recovered;
}

/** Where a start happens and what it may know. */
export interface RecoveryContext {
  readonly replica: number;
  readonly plan: SeedPlan;
  readonly hasClientTable: boolean;
  readonly oracle: GroupOracle;
}

/**
 * Reads a store as a host does at start: the checkpoint, then the journal's ops up to the last one that is
 * known to be committed, which are applied again. Some op's prepare said so, or nothing did.
 */
export function recover(store: GroupStore, context: RecoveryContext): Recovery {
  const { isNew } = store;
  const { op, checksum, prepares } = store.open();
  const { log: snapshot, table: encoded } = store.checkpoint;
  const log = new AppendLog(snapshot);
  const table = tableOf(encoded, context.hasClientTable);
  const commit = commitOf(prepares, snapshot.op, op, context.plan);
  for (const prepare of prepares) {
    context.oracle.onWritten(context.replica, prepare.checksum);
    if (prepare.op <= snapshot.op || prepare.op > commit) continue;
    const offset = log.apply(prepare);
    if (table !== undefined) settle(table, prepare, encodeOffset(offset));
    context.oracle.onReplayed(context.replica, prepare);
    context.oracle.onApplied(context.replica, prepare.op, offset);
  }
  forgetOffsets(log, snapshot.nextOffset, context.plan);
  const suffix = prepares.filter((prepare) => prepare.op > commit);
  const commitChecksum = log.checksum;
  const { durable } = store.superblock;
  return { log, table, recovered: { ...durable, op, commit, checksum, commitChecksum, suffix, isNew } };
}

function tableOf(encoded: Uint8Array | undefined, hasClientTable: boolean): ClientTable | undefined {
  if (!hasClientTable) return undefined;
  return encoded === undefined ? new ClientTable() : ClientTable.decode(encoded);
}

/** With one replica what is journaled is committed. */
function commitOf(prepares: readonly Prepare[], floor: number, op: number, plan: SeedPlan): number {
  if (plan.replicaCount === 1) return op;
  return Math.min(
    op,
    prepares.reduce((most, { commit }) => Math.max(most, commit), floor),
  );
}

/** The planted bug `reuseOffsets`: after a crash offsets go on from the checkpoint, not from the log. */
function forgetOffsets(log: AppendLog, checkpointOffset: number, plan: SeedPlan): void {
  if (plan.mutation === "reuseOffsets") log.nextOffset = checkpointOffset;
}
