import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { StartViewChange } from "../messages/start-view-change.ts";
import type { Output } from "../output.ts";
import { askForNextView, countAsker } from "./ask-for-view.ts";
import { changeView } from "./change-view.ts";
import { giveDoViewChange } from "./give-do-view-change.ts";
import { startViewOf } from "./start-view-of.ts";

/**
 * A peer asks for a view, or has gone there because a quorum asked.
 *
 * Where the peer stands is ahead of this replica: it follows. The peer asks for the view after this one: it
 * is counted, and this replica asks too when it has no primary to stand by or the primary itself asks. The
 * peer is behind: it is told where this replica stands.
 * @see Viewstamped Replication Revisited, section 4.2, steps 1 and 2
 */
export function onStartViewChange(state: GroupState, message: StartViewChange): readonly Output[] {
  const { view, replica, agreed } = message;
  if (state.isProbing) return NO_OUTPUTS;
  const reached = agreed ? view : view - 1;
  if (reached > state.view) {
    const outputs = changeView(state, reached);
    return agreed ? outputs : [...outputs, ...onAsker(state, replica)];
  }
  if (!agreed && view === state.view + 1) return onAsker(state, replica);
  if (agreed && view === state.view && state.status !== "normal") return joinAgain(state, replica);
  return tellWhereWeStand(state, replica);
}

function onAsker(state: GroupState, replica: number): readonly Output[] {
  const outputs = countAsker(state, replica);
  if (outputs.length > 0 || state.isAsking) return outputs;
  const isPrimaryGone = state.status === "view-change" || replica === state.primary;
  return isPrimaryGone ? askForNextView(state, "peers") : NO_OUTPUTS;
}

/** In this view too, which has not begun here: its primary may lack this replica's log. */
function joinAgain(state: GroupState, replica: number): readonly Output[] {
  if (state.status === "view-change") return replica === state.primary ? giveDoViewChange(state) : NO_OUTPUTS;
  const isNew = state.logView < state.view && !state.mayHaveBeenInView;
  const mayJoin = isNew && state.target === undefined;
  return mayJoin ? changeView(state, state.view) : NO_OUTPUTS;
}

function tellWhereWeStand(state: GroupState, to: number): readonly Output[] {
  const { view, replica } = state;
  if (state.isPrimary) return [{ kind: "send", to, message: startViewOf(state, 0) }];
  if (state.status !== "view-change") return NO_OUTPUTS;
  return [{ kind: "send", to, message: { kind: "startViewChange", view, replica, agreed: true } }];
}
