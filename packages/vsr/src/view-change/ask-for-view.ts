import { type GroupState, NO_OUTPUTS, type ViewCause } from "../group-state.ts";
import type { Output } from "../output.ts";
import { bitCount, broadcast } from "../send.ts";
import { changeView } from "./change-view.ts";

/**
 * Patience is over: this replica asks its peers for the next view, and goes there once a quorum asks.
 *
 * Until then it stays in its view, takes prepares and acknowledges them: a replica that is cut off does not
 * run ahead of the others.
 * @see Viewstamped Replication Revisited, section 4.2, step 1
 */
export function askForNextView(state: GroupState, cause: ViewCause): readonly Output[] {
  const { timers } = state;
  if (!state.isAsking) {
    state.isAsking = true;
    state.askCause = cause;
    timers.askForView.start(state.ticks, timers.timing.viewChangeRetransmitInterval);
  }
  state.askers |= 1 << state.replica;
  return [...askEverybody(state), ...goOnceAgreed(state)];
}

/** Counts a peer that asks for the view after this one. */
export function countAsker(state: GroupState, replica: number): readonly Output[] {
  state.askers |= 1 << replica;
  return goOnceAgreed(state);
}

/** The primary of this view is alive: nobody here wants another one. */
export function heardPrimary(state: GroupState): void {
  if (state.isProbing || state.status === "view-change") return;
  stopAsking(state);
  state.timers.patience.start(state.ticks, state.timers.timing.heartbeatTimeout);
}

/** Stands by its view again, and forgets who did not. */
export function stopAsking(state: GroupState): void {
  if (state.isAsking) state.timers.askForView.stop();
  state.isAsking = false;
  state.askers = 0;
}

/** Looks whether patience is over, and repeats what was asked. */
export function onAskTick(state: GroupState): readonly Output[] {
  const { timers, ticks } = state;
  if (timers.patience.firesOnce(ticks)) return askForNextView(state, "primary-silent");
  return state.isAsking && timers.askForView.fires(ticks) ? askEverybody(state) : NO_OUTPUTS;
}

function goOnceAgreed(state: GroupState): readonly Output[] {
  const isAgreed = state.isAsking && bitCount(state.askers) >= state.quorums.viewChange;
  return isAgreed ? changeView(state, state.view + 1) : NO_OUTPUTS;
}

function askEverybody(state: GroupState): Output[] {
  const { view, replica } = state;
  return broadcast(state, { kind: "startViewChange", view: view + 1, replica, agreed: false });
}
