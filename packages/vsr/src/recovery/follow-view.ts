import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { leaveView, persistView } from "../view-change/leave-view.ts";
import { askForStartView } from "./on-recovery-tick.ts";

/**
 * The primary of a view speaks as such and this replica has not heard that the view began: it asks for its
 * log.
 *
 * A replica that probes does that already.
 * @see Viewstamped Replication Revisited, section 4.2, step 5, and section 5.2
 */
export function followView(state: GroupState, view: number): readonly Output[] {
  if (state.isProbing) return NO_OUTPUTS;
  const outputs: Output[] = [];
  const isNewView = view > state.view;
  outputs.push(...leaveView(state, view));
  if (isNewView) outputs.push(persistView(state));
  const { timers, ticks } = state;
  state.status = "recovering";
  timers.viewChangeRetransmit.stop();
  timers.requestStartView.start(ticks, timers.timing.requestStartViewRetransmitInterval);
  timers.patience.start(ticks, timers.timing.heartbeatTimeout);
  outputs.push(...askForStartView(state));
  return outputs;
}
