import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { StartView } from "../messages/start-view.ts";
import type { Output } from "../output.ts";
import { advance } from "../repair/advance.ts";
import { leaveView, persistView } from "./leave-view.ts";
import { adoptLog, isWellFormed } from "./log-end.ts";

/**
 * A view has begun: this replica takes over its log, and takes part in it when it holds all of it.
 *
 * Of an older view, repeated, or older than what is committed here, it changes nothing. A restarted replica
 * that was in this very view takes only the answer to its own request: an older startView does not name
 * what it acknowledged since.
 * @see Viewstamped Replication Revisited, section 4.2, step 5, and section 4.3, step 3
 */
export function onStartView(state: GroupState, message: StartView): readonly Output[] {
  const { view } = message;
  if (!isNews(state, message) || !isWellFormed(message)) return NO_OUTPUTS;
  const isNewView = view > state.view;
  const outputs = isNewView ? leaveView(state, view) : [];
  const { timers, ticks } = state;
  state.status = "recovering";
  state.isProbing = false;
  state.isAsking = false;
  state.askers = 0;
  timers.requestStartView.stop();
  timers.viewChangeRetransmit.stop();
  timers.askForView.stop();
  timers.patience.start(ticks, timers.timing.heartbeatTimeout);
  const cut = adoptLog(state, message, state.primary);
  const next = advance(state);
  if (isNewView && !state.isPromoted) outputs.push(persistView(state));
  outputs.push(...cut, ...next);
  return outputs;
}

function isNews(state: GroupState, { view, op, nonce }: StartView): boolean {
  if (state.isViewForgotten) return false;
  // Whoever ended before the note of a view was written may have more of that view than its first word says.
  const committed = Math.max(state.commit, state.committedBefore);
  if (op < committed && state.status !== "normal") return false;
  if (view !== state.view) return view > state.view;
  if (state.status === "normal" || state.target !== undefined) return false;
  return nonce === state.nonce || (state.logView < view && !state.mayHaveBeenInView);
}
