import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { broadcast } from "../send.ts";
import { giveDoViewChange } from "./give-do-view-change.ts";

/**
 * Repeats what brings the view about: everybody is told that it was agreed on, its primary gets this log.
 * @see Viewstamped Replication Revisited, section 4.2; server-semantics, section 19, timing
 */
export function onViewChangeTick(state: GroupState): readonly Output[] {
  if (!state.timers.viewChangeRetransmit.fires(state.ticks)) return NO_OUTPUTS;
  const { view, replica } = state;
  const outputs = broadcast(state, { kind: "startViewChange", view, replica, agreed: true });
  if (state.primary !== replica) outputs.push(...giveDoViewChange(state));
  return outputs;
}
