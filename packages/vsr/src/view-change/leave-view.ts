import { ErrorCode } from "@millrace/errors";
import type { GroupState, ViewCause } from "../group-state.ts";
import type { Output } from "../output.ts";
import type { Prepare } from "../prepare.ts";

/**
 * Ends this replica's part in its view: from here on it neither acknowledges nor commits in it.
 *
 * A primary tells the clients of what it has in flight that the outcome is open. Nobody knows yet which of
 * the ops above the commit belong to the log of `view`; what was collected for the old view is forgotten.
 * @see Viewstamped Replication Revisited, section 4.2, step 1
 */
export function leaveView(state: GroupState, view: number): Output[] {
  const outputs: Output[] = [];
  if (state.isPrimary) {
    state.pipeline.forEach(({ prepare }) => {
      if (prepare.view === state.view) outputs.push(outcomeUnknown(prepare));
    });
  }
  state.pipeline.forEach((pending) => {
    pending.oks = 0;
  });
  const { patience, commitBroadcast, prepareRetransmit, askForView, gapDebounce, repairRetry } = state.timers;
  for (const timer of [patience, commitBroadcast, prepareRetransmit, askForView, gapDebounce, repairRetry])
    timer.stop();
  if (view !== state.view) state.viewCause = causeOf(state);
  state.view = view;
  state.asksToLeadUntil = 0;
  state.yieldsTo = undefined;
  state.isAsking = false;
  state.askers = 0;
  state.doViewChanges = [];
  state.verified = state.commit;
  state.target = undefined;
  state.isPromoted = false;
  state.repair.forget(state.op);
  return outputs;
}

/** Has view, log view and what goes with them written to the superblock. */
export function persistView({ view, logView, mayHaveLost }: GroupState): Output {
  return { kind: "persist-view", view, logView, mayHaveLost };
}

function causeOf({ isAsking, askCause, yieldsTo, ticks, asksToLeadUntil }: GroupState): ViewCause {
  if (yieldsTo !== undefined || ticks < asksToLeadUntil) return "handed-over";
  return isAsking ? askCause : "peers";
}

function outcomeUnknown({ client, request, operation, body }: Prepare): Output {
  return { kind: "reject", code: ErrorCode.TransientNotCommitted, client, request, operation, context: body };
}
