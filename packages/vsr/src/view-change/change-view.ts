import type { GroupState } from "../group-state.ts";
import type { Output } from "../output.ts";
import { broadcast } from "../send.ts";
import { giveDoViewChange } from "./give-do-view-change.ts";
import { leaveView, persistView } from "./leave-view.ts";

/**
 * Goes to `view`, whose primary has yet to collect logs, and tells everybody.
 *
 * Its own doViewChange waits for the superblock.
 * @see Viewstamped Replication Revisited, section 4.2, steps 1 and 2
 */
export function changeView(state: GroupState, view: number): Output[] {
  const { timers, ticks, replica } = state;
  const outputs = leaveView(state, view);
  state.status = "view-change";
  timers.requestStartView.stop();
  timers.viewChangeRetransmit.start(ticks, timers.timing.viewChangeRetransmitInterval);
  timers.patience.start(ticks, timers.timing.viewChangeStatusTimeout);
  if (state.viewPersisted !== view) outputs.push(persistView(state));
  outputs.push(...broadcast(state, { kind: "startViewChange", view, replica, agreed: true }));
  outputs.push(...giveDoViewChange(state));
  return outputs;
}
