import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { PrepareGone } from "../messages/prepare-gone.ts";
import type { Output } from "../output.ts";

/**
 * A peer's journal starts after what this replica needs next: the host is asked to fetch that peer's state.
 * @see Viewstamped Replication Revisited, section 5.2, the last paragraph
 */
export function onPrepareGone(state: GroupState, message: PrepareGone): readonly Output[] {
  const { repair, timers } = state;
  if (message.view !== state.view || !repair.isActive || repair.isJournalBusy) return NO_OUTPUTS;
  const needed = state.verified < state.op ? state.op : state.op + 1;
  if (message.op !== needed) return NO_OUTPUTS;
  repair.stateAwaited = needed;
  repair.source = message.replica;
  timers.repairRetry.start(state.ticks, timers.timing.repairRetryInterval);
  return [{ kind: "request-state", from: message.replica, op: needed }];
}
