import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { ROUND_LENGTH_MIN } from "./repair.ts";

/**
 * Asks for the next round of what this replica's log lacks, if nothing stands in the way.
 *
 * In a normal view a gap is left to the primary's repetitions first: messages overtake each other. A round
 * is as long as `repairChunkMax` and the free pipeline allow; the next one follows when it has come in
 * full. Where messages overtake each other rounds become short, for what comes too early has to be sent
 * again. While the end of the own log is in doubt, the round is that one op.
 * @see Viewstamped Replication Revisited, section 5.2
 */
export function repairFurther(state: GroupState): readonly Output[] {
  const { repair, timers } = state;
  const isLogKnown = state.status === "normal" || state.target !== undefined;
  if (state.isPrimary || !isLogKnown) return NO_OUTPUTS;
  if (repair.stateAwaited !== undefined) return waitForState(state);
  if (state.verified === state.op && state.op >= repair.opKnown) {
    repair.isActive = false;
    timers.gapDebounce.stop();
    timers.repairRetry.stop();
    return NO_OUTPUTS;
  }
  if (!repair.isActive && state.status === "normal") {
    const { repairGapDebounceInterval } = timers.timing;
    if (!timers.gapDebounce.isRunning) timers.gapDebounce.start(state.ticks, repairGapDebounceInterval);
    return NO_OUTPUTS;
  }
  repair.isActive = true;
  return repair.isJournalBusy || repair.asked >= firstLacking(state) ? NO_OUTPUTS : askForRound(state);
}

/** Asks `repair.source` for the first ops that are lacking, whether or not they were asked for before. */
export function askForRound(state: GroupState): readonly Output[] {
  const { repair, timers } = state;
  const first = firstLacking(state);
  const last = lastOfRound(state);
  const outputs: Output[] = [];
  for (let op = first; op <= last; op += 1) {
    const { view, replica } = state;
    const prepareChecksum = repair.checksumAt(op) ?? 0n;
    const message = { kind: "requestPrepare", view, replica, op, prepareChecksum } as const;
    outputs.push({ kind: "send", to: repair.source, message });
  }
  repair.asked = last;
  repair.early.clear();
  repair.roundLength = Math.max(ROUND_LENGTH_MIN, 2 * (last - first + 1));
  if (outputs.length > 0) timers.repairRetry.start(state.ticks, timers.timing.repairRetryInterval);
  return outputs;
}

/** The request for it is repeated in this view too. */
function waitForState({ repair, timers, ticks }: GroupState): readonly Output[] {
  repair.isActive = true;
  if (!timers.repairRetry.isRunning) timers.repairRetry.start(ticks, timers.timing.repairRetryInterval);
  return NO_OUTPUTS;
}

function firstLacking(state: GroupState): number {
  return state.verified < state.op ? state.op : state.op + 1;
}

function lastOfRound(state: GroupState): number {
  if (state.verified < state.op) return state.op;
  const { timers, pipeline, repair } = state;
  const length = Math.min(timers.timing.repairChunkMax, repair.roundLength, pipeline.free);
  return Math.min(state.op + length, repair.opKnown);
}
