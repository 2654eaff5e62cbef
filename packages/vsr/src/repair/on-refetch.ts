import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { advance } from "./advance.ts";

/**
 * The host has found damage in what the journal holds of committed ops: a peer's state is to take its place.
 *
 * It has to reach as far as this replica's own log, so nothing that it acknowledged is missing from it, and
 * until it is there the replica answers for its log as before, but takes nothing new. When another view
 * begins meanwhile it is given up, and the host may ask again. A primary does not do it, for it would write
 * nothing: it hands over first. Nor does who fetches already, or changes its journal.
 * @see docs/adr/0064
 */
export function onRefetch(state: GroupState): readonly Output[] {
  const { repair, timers, ticks } = state;
  if (state.status !== "normal" || state.isPrimary || repair.isJournalBusy) return NO_OUTPUTS;
  repair.isActive = true;
  repair.isRefetch = true;
  repair.stateAwaited = Math.max(1, state.op);
  repair.source = state.primary;
  timers.gapDebounce.stop();
  timers.repairRetry.start(ticks, timers.timing.repairRetryInterval);
  return [{ kind: "request-state", from: repair.source, op: repair.stateAwaited }];
}

/** The host puts the state in the place of the journal: from now on that is not given up. */
export function onStateReplacing(state: GroupState): readonly Output[] {
  if (state.repair.stateAwaited !== undefined) state.repair.isReplacing = true;
  return NO_OUTPUTS;
}

/**
 * No state takes the place of the journal for now. A replica that takes part goes on with the log that it
 * has, and the host may ask again; one that lacks a part of the log waits for a state as before. So does one
 * whose view has not begun here: it compares its log with that of the next view that does.
 */
export function onStateRefused(state: GroupState): readonly Output[] {
  state.repair.isReplacing = false;
  if (state.status !== "normal" || !state.repair.isRefetch) return NO_OUTPUTS;
  state.repair.giveUpRefetch();
  return advance(state);
}
