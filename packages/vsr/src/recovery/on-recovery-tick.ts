import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { broadcast } from "../send.ts";
import { askForNextView } from "../view-change/ask-for-view.ts";

/**
 * A replica that does not know the log of the current view asks everybody; the primary answers.
 *
 * A restarted one asks evenly, `viewProbeAttemptsMax` times. When nobody answers, there is no primary: then
 * it turns to an election on its own log, and goes on asking now and then. Without its superblock it does
 * so only when it has heard from enough peers in which view they are.
 * @see Viewstamped Replication Revisited, section 4.3, step 1; server-semantics, section 19, recovery
 */
export function onRecoveryTick(state: GroupState): readonly Output[] {
  const { timers, ticks } = state;
  const { timing, requestStartView } = timers;
  if (state.target !== undefined) return NO_OUTPUTS;
  if (!state.isProbing) return requestStartView.fires(ticks) ? askForStartView(state) : NO_OUTPUTS;
  if (!requestStartView.firesOnce(ticks)) return NO_OUTPUTS;
  requestStartView.start(ticks, timing.requestStartViewRetransmitInterval);
  if (state.probesSent < timing.viewProbeAttemptsMax || state.isViewForgotten) {
    state.probesSent += 1;
    return askForStartView(state);
  }
  state.isProbing = false;
  return [...askForStartView(state), ...askForNextView(state, "no-primary")];
}

/** One request to every peer. */
export function askForStartView(state: GroupState): Output[] {
  const { view, replica, nonce, isViewForgotten: wantsViews } = state;
  return broadcast(state, { kind: "requestStartView", view, replica, nonce, wantsViews });
}
