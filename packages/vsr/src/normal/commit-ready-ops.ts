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
  const first = nextReady(state);
  if (first === undefined) return NO_OUTPUTS;
  // Most often it is one: an empty array that is pushed to takes room for seventeen.
  const outputs: Output[] = [commit(state, first)];
  for (let next = nextReady(state); next !== undefined; next = nextReady(state)) {
    outputs.push(commit(state, next));
  }
  return outputs;
}

function nextReady(state: GroupState): Pending | undefined {
  const pending = state.pipeline.get(state.commit + 1);
  return pending !== undefined && isReady(state, pending) ? pending : undefined;
}

function commit(state: GroupState, { prepare }: Pending): Output {
  state.commit += 1;
  state.commitChecksum = prepare.checksum;
  if (state.clientTable === undefined) state.pipeline.releaseFirst();
  return { kind: "apply", prepare };
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
