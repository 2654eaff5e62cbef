import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { onRecoveryTick } from "../recovery/on-recovery-tick.ts";
import { onRepairTick } from "../repair/on-repair-tick.ts";
import { onAskTick } from "../view-change/ask-for-view.ts";
import { onViewChangeTick } from "../view-change/on-view-change-tick.ts";
import { onPrimaryTick } from "./on-primary-tick.ts";

/** 10 ms pass: each phase looks at its timers. A group of one waits for nothing. */
export function onTick(state: GroupState): readonly Output[] {
  if (state.replicaCount === 1) return NO_OUTPUTS;
  state.ticks += 1;
  const outputs: Output[] = [];
  if (state.isPrimary) outputs.push(...onPrimaryTick(state));
  else if (state.status === "view-change") outputs.push(...onViewChangeTick(state));
  else if (state.status === "recovering") outputs.push(...onRecoveryTick(state));
  outputs.push(...onRepairTick(state));
  outputs.push(...onAskTick(state));
  return outputs;
}
