import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import type { Pending } from "../pipeline.ts";
import { bitCount } from "../send.ts";

/**
 * Commits, in op order, every op that is ready, and asks for each to be applied.
 *
 * Without a client table an op leaves the pipeline here: its host answers from the `apply`. With one it stays
 * until `applied`, for until then its client may have no second request.
 */
export function commitReadyOps(state: GroupState): readonly Output[] {
  let pending = state.pipeline.get(state.commit + 1);
  if (pending === undefined || !isReady(state, pending)) return NO_OUTPUTS;
  const outputs: Output[] = [];
  while (pending !== undefined && isReady(state, pending)) {
    state.commit += 1;
    state.commitChecksum = pending.prepare.checksum;
    outputs.push({ kind: "apply", prepare: pending.prepare });
    if (state.clientTable === undefined) state.pipeline.releaseFirst();
    pending = state.pipeline.get(state.commit + 1);
  }
  return outputs;
}

/** Raises what is known of the group's commit. An older number changes nothing. */
export function learnCommit(state: GroupState, commit: number): void {
  if (commit > state.commitKnown) state.commitKnown = commit;
  if (commit > state.repair.opKnown) state.repair.opKnown = commit;
}

/**
 * Written here, so that it can be applied; and on a quorum: counted by the primary, told to everybody else
 * for an op that is known to be the one of the view's log.
 */
function isReady(state: GroupState, pending: Pending): boolean {
  if (!pending.written) return false;
  if (state.isPrimary) return bitCount(pending.oks) >= quorumOf(state);
  const { op } = pending.prepare;
  return op <= state.commitKnown && op <= state.verified;
}

function quorumOf(state: GroupState): number {
  return state.mutations.commitWithoutQuorum === true ? 1 : state.quorums.replication;
}
