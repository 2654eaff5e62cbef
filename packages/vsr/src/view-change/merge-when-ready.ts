import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { DoViewChange } from "../messages/do-view-change.ts";
import { learnCommit } from "../normal/commit-ready-ops.ts";
import type { Output } from "../output.ts";
import { advance } from "../repair/advance.ts";
import { doViewChangeOf } from "./give-do-view-change.ts";
import { adoptLog, type LogEnd } from "./log-end.ts";
import { mergeLogs } from "./merge-logs.ts";

/**
 * The primary of the next view merges the logs it was given, its own first, and takes over the result.
 *
 * Until the view has begun every further doViewChange is a reason to merge again: it may bring a holder of
 * what is missing, or the nack that proves that nobody needs it.
 * @see Viewstamped Replication Revisited, section 4.2, step 3
 */
export function mergeWhenReady(state: GroupState): readonly Output[] {
  if (state.isPromoted) return NO_OUTPUTS;
  const peers = state.doViewChanges.filter((log): log is DoViewChange => log !== undefined);
  const merged = mergeLogs([doViewChangeOf(state), ...peers], {
    replicaCount: state.replicaCount,
    nackQuorum: state.quorums.viewChange,
    replication: state.quorums.replication,
    mutations: state.mutations,
  });
  if (merged === undefined || isUnderWay(state, merged)) return NO_OUTPUTS;
  learnCommit(state, merged.commitKnown);
  const source = merged.source === state.replica ? (peers[0]?.replica ?? 0) : merged.source;
  const outputs = adoptLog(state, merged, source);
  return [...outputs, ...advance(state)];
}

/** This very log is being completed already. */
function isUnderWay({ target, repair }: GroupState, { op, headers }: LogEnd): boolean {
  return target === op && repair.headers.at(-1)?.checksum === headers.at(-1)?.checksum;
}
