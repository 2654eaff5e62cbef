import type { GroupState } from "../group-state.ts";
import { prepareOk } from "../normal/on-prepare.ts";
import type { Output } from "../output.ts";
import type { PrepareHeader } from "../prepare-header.ts";
import { repairFurther } from "../repair/repair-further.ts";
import { broadcast } from "../send.ts";
import { startViewOf } from "./start-view-of.ts";

/**
 * Takes part in the view from here on: its log is complete here and the superblock says so.
 *
 * The primary announces the view and counts itself for every op; a backup acknowledges all that its journal
 * holds above the primary's commit, for in this view nobody has heard it from this replica.
 * @see Viewstamped Replication Revisited, section 4.2, steps 4 and 5
 */
export function enterNormal(state: GroupState): Output[] {
  const announced = state.repair.headers;
  state.status = "normal";
  state.mayAskToLeadFrom = state.ticks + state.timers.timing.heartbeatTimeout;
  state.isPromoted = false;
  state.target = undefined;
  state.doViewChanges = [];
  state.repair.headers = [];
  state.timers.viewChangeRetransmit.stop();
  state.timers.requestStartView.stop();
  const outputs = state.isPrimary ? beginView(state) : acknowledgeAll(state, announced);
  outputs.push(...repairFurther(state));
  return outputs;
}

function beginView(state: GroupState): Output[] {
  const { timers, ticks } = state;
  const { timing } = timers;
  state.isAsking = false;
  state.askers = 0;
  state.commitAtTick = state.commit;
  state.caughtUpTo = [];
  state.repair.isActive = false;
  timers.gapDebounce.stop();
  timers.repairRetry.stop();
  timers.patience.start(ticks, timing.heartbeatTimeout);
  timers.commitBroadcast.start(ticks, timing.commitBroadcastInterval);
  timers.prepareRetransmit.start(ticks, timing.prepareRetransmitInterval);
  state.pipeline.forEach((pending) => {
    pending.oks = 1 << state.replica;
  });
  return broadcast(state, startViewOf(state, 0));
}

function acknowledgeAll(state: GroupState, announced: readonly PrepareHeader[]): Output[] {
  const outputs: Output[] = [];
  for (const { op, checksum } of announced) {
    if (op <= state.commit) outputs.push(prepareOk(state, op, checksum));
  }
  state.pipeline.forEach(({ prepare, written }) => {
    if (written && prepare.op > state.commit) outputs.push(prepareOk(state, prepare.op, prepare.checksum));
  });
  return outputs;
}
