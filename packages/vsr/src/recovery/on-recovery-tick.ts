import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { bitCount, broadcast } from "../send.ts";
import { askForNextView } from "../view-change/ask-for-view.ts";

/**
 * A replica that does not know the log of the current view asks everybody; the primary answers.
 *
 * A restarted one asks evenly, `viewProbeAttemptsMax` times. When nobody answers, there is no primary: then
 * it turns to an election on its own log, and goes on asking now and then. It does so at the second time when
 * so many peers ask as well that the others could commit nothing: the whole group was restarted. Without its
 * superblock it does so only when it has heard from enough peers in which view they are.
 * @see Viewstamped Replication Revisited, section 4.3, step 1; server-semantics, section 19, recovery
 */
export function onRecoveryTick(state: GroupState): readonly Output[] {
  const { timers, ticks } = state;
  const { timing, requestStartView } = timers;
  if (state.target !== undefined) return NO_OUTPUTS;
  if (!state.isProbing) return requestStartView.fires(ticks) ? askForStartView(state) : NO_OUTPUTS;
  if (!requestStartView.firesOnce(ticks)) return NO_OUTPUTS;
  requestStartView.start(ticks, timing.requestStartViewRetransmitInterval);
  const mayBeAnswered = state.probesSent < timing.viewProbeAttemptsMax && !isNobodyLeading(state);
  if (mayBeAnswered || state.isViewForgotten) {
    state.probesSent += 1;
    return askForStartView(state);
  }
  state.isProbing = false;
  return [...askForStartView(state), ...askForNextView(state, "no-primary")];
}

/** A primary has had the time to answer, and of those who do not ask too few are left for one. */
function isNobodyLeading({ probesSent, probers, replicaCount, quorums }: GroupState): boolean {
  return probesSent > 0 && replicaCount - bitCount(probers) - 1 < quorums.replication;
}

/** One request to every peer. */
export function askForStartView(state: GroupState): Output[] {
  const { view, replica, nonce, isViewForgotten: wantsViews } = state;
  return broadcast(state, { kind: "requestStartView", view, replica, nonce, wantsViews });
}
