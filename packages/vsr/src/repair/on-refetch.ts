import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";

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
