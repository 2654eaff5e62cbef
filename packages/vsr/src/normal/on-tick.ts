import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { onRecoveryTick } from "../recovery/on-recovery-tick.ts";
import { onRepairTick } from "../repair/on-repair-tick.ts";
import { onAskTick } from "../view-change/ask-for-view.ts";
import { onViewChangeTick } from "../view-change/on-view-change-tick.ts";
import { onPrimaryTick } from "./on-primary-tick.ts";

/**
 * 10 ms pass: each phase looks at its timers. A group of one waits for nothing; a quiet tick costs nothing.
 */
export function onTick(state: GroupState): readonly Output[] {
  if (state.replicaCount === 1) return NO_OUTPUTS;
  state.ticks += 1;
  const phase = onPhaseTick(state);
  const repair = onRepairTick(state);
  const ask = onAskTick(state);
  const isQuiet = phase.length === 0 && repair.length === 0 && ask.length === 0;
  return isQuiet ? NO_OUTPUTS : [...phase, ...repair, ...ask];
}

function onPhaseTick(state: GroupState): readonly Output[] {
  if (state.isPrimary) return onPrimaryTick(state);
  if (state.status === "view-change") return onViewChangeTick(state);
  return state.status === "recovering" ? onRecoveryTick(state) : NO_OUTPUTS;
}
