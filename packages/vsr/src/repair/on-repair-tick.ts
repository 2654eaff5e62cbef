import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { ROUND_LENGTH_MIN } from "./repair.ts";
import { askForRound } from "./repair-further.ts";

/**
 * Opens repair when a gap has lasted, and asks again, another peer and for less, when a round has stalled:
 * the peers may be slow, and what they were asked before still comes.
 * @see Viewstamped Replication Revisited, section 5.2; server-semantics, section 19, recovery
 */
export function onRepairTick(state: GroupState): readonly Output[] {
  const { repair, timers, ticks } = state;
  if (timers.gapDebounce.firesOnce(ticks)) {
    repair.isActive = true;
    repair.source = state.primary;
    return repair.isJournalBusy ? NO_OUTPUTS : askForRound(state);
  }
  if (!repair.isActive || !timers.repairRetry.firesEvenly(ticks)) return NO_OUTPUTS;
  repair.source = nextPeer(state, repair.source);
  if (repair.stateAwaited !== undefined)
    return [{ kind: "request-state", from: repair.source, op: repair.stateAwaited }];
  repair.roundLength = ROUND_LENGTH_MIN;
  return repair.truncatingTo === undefined ? askForRound(state) : NO_OUTPUTS;
}

function nextPeer(state: GroupState, peer: number): number {
  const next = (peer + 1) % state.replicaCount;
  return next === state.replica ? (next + 1) % state.replicaCount : next;
}
