import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { enterNormal } from "./enter-normal.ts";
import { persistView } from "./leave-view.ts";

/**
 * Makes the view the log view once its whole log is in this replica's journal, and only then: the replica's
 * word that it holds that log outweighs the log of any older view.
 *
 * The superblock comes first; then the replica is normal.
 * @see Viewstamped Replication Revisited, section 4.2, steps 4 and 5
 */
export function promote(state: GroupState): readonly Output[] {
  if (state.isPromoted || !isLogComplete(state)) return NO_OUTPUTS;
  const isPersisted =
    state.logView === state.view && state.viewPersisted === state.view && !state.mayHaveLost;
  state.isPromoted = true;
  state.logView = state.view;
  state.mayHaveLost = false;
  return isPersisted ? enterNormal(state) : [persistView(state)];
}

function isLogComplete(state: GroupState): boolean {
  const { target, pipeline } = state;
  if (state.status === "normal" || target === undefined || state.repair.isJournalBusy) return false;
  if (state.verified < state.op || state.op < target) return false;
  for (let op = state.commit + 1; op <= target; op += 1) {
    if (pipeline.get(op)?.written !== true) return false;
  }
  return true;
}
