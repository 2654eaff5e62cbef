import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { advance } from "../repair/advance.ts";
import { commitReadyOps } from "./commit-ready-ops.ts";
import { prepareOk } from "./on-prepare.ts";

/**
 * This replica's journal holds an op: the only place where a prepareOk or a commit can be born.
 *
 * The primary counts itself; a backup tells the primary. Completions come in any order; ops commit in op
 * order. A completion for an op that is not pending, or for another prepare of that op, changes nothing.
 * @see Viewstamped Replication Revisited, section 4.1, step 4
 */
export function onJournalWritten(state: GroupState, op: number, checksum: bigint): readonly Output[] {
  const pending = state.pipeline.get(op);
  if (pending === undefined || pending.written || pending.prepare.checksum !== checksum) return NO_OUTPUTS;
  pending.written = true;
  pending.oks |= 1 << state.replica;
  if (state.isPrimary) return commitReadyOps(state);
  if (state.status !== "normal") return advance(state);
  return [prepareOk(state, op, checksum), ...advance(state)];
}
