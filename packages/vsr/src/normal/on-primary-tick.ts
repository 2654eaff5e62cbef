import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { ReplicaMessage } from "../messages/replica-message.ts";
import type { Output } from "../output.ts";
import { broadcast } from "../send.ts";
import { stopAsking } from "../view-change/ask-for-view.ts";
import { handOverWhenDone } from "../view-change/hand-over.ts";

/**
 * The primary repeats what may have been lost and tells its commit number.
 *
 * When ops wait and none commits for as long as a backup would wait for its primary, it cannot lead: it asks
 * for the next view like the others and falls silent, so that they do not take it for a living primary.
 * @see Viewstamped Replication Revisited, section 4.1, step 6; server-semantics, section 19, timing
 */
export function onPrimaryTick(state: GroupState): readonly Output[] {
  const { timers, ticks } = state;
  noticeProgress(state);
  if (state.isAsking) return NO_OUTPUTS;
  const handedOver = handOverWhenDone(state);
  if (handedOver.length > 0) return handedOver;
  const resends = timers.prepareRetransmit.fires(ticks);
  const tellsCommit = timers.commitBroadcast.firesEvenly(ticks);
  if (!resends && !tellsCommit) return NO_OUTPUTS;
  const outputs: Output[] = [];
  if (resends) resendPrepares(state, outputs);
  if (tellsCommit) {
    const { view, commit, commitChecksum } = state;
    outputs.push(...broadcast(state, { kind: "commit", view, commit, commitChecksum }));
  }
  return outputs;
}

/** A commit, or nothing to commit: patience and repetitions start anew. */
function noticeProgress(state: GroupState): void {
  const { timers, ticks, commit } = state;
  if (commit === state.commitAtTick && commit < state.op) return;
  state.commitAtTick = commit;
  timers.prepareRetransmit.start(ticks, timers.timing.prepareRetransmitInterval);
  timers.patience.start(ticks, timers.timing.heartbeatTimeout);
  stopAsking(state);
}

function resendPrepares(state: GroupState, outputs: Output[]): void {
  for (let op = state.commit + 1; op <= state.op; op += 1) {
    const pending = state.pipeline.get(op);
    if (pending === undefined) continue;
    const message: ReplicaMessage = { kind: "prepare", view: state.view, prepare: pending.prepare };
    for (let to = 0; to < state.replicaCount; to += 1) {
      const answered = (pending.oks & (1 << to)) !== 0;
      if (to !== state.replica && !answered) outputs.push({ kind: "send", to, message });
    }
  }
}
