import { type GroupState, NO_OUTPUTS } from "./group-state.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import { onCommit } from "./normal/on-commit.ts";
import { onPrepare } from "./normal/on-prepare.ts";
import { onPrepareOk } from "./normal/on-prepare-ok.ts";
import type { Output } from "./output.ts";
import { followView } from "./recovery/follow-view.ts";
import { onRequestStartView } from "./recovery/on-request-start-view.ts";
import { onViewNumber } from "./recovery/on-view-number.ts";
import { onPrepareGone } from "./repair/on-prepare-gone.ts";
import { onRequestPrepare } from "./repair/on-request-prepare.ts";
import { onAskToLead } from "./view-change/hand-over.ts";
import { onDoViewChange } from "./view-change/on-do-view-change.ts";
import { onStartView } from "./view-change/on-start-view.ts";
import { onStartViewChange } from "./view-change/on-start-view-change.ts";

/**
 * Hands a peer's message to its phase.
 *
 * It counts as the authenticated sender's; what it says about itself must agree, and only the primary of a
 * view speaks for the view. A prepare or commit of a view that this replica is not in yet leads it there.
 */
export function onMessage(state: GroupState, from: number, message: ReplicaMessage): readonly Output[] {
  if (!isPeer(state, from)) return NO_OUTPUTS;
  if ("replica" in message) {
    if (message.replica !== from) return NO_OUTPUTS;
  } else if (message.kind !== "prepare" && from !== message.view % state.replicaCount) return NO_OUTPUTS;
  switch (message.kind) {
    case "prepare":
    case "commit":
      if (from === message.view % state.replicaCount && hasBegunElsewhere(state, message.view))
        return followView(state, message.view);
      return message.kind === "prepare" ? onPrepare(state, from, message) : onCommit(state, message);
    case "prepareOk":
      return onPrepareOk(state, message);
    case "startViewChange":
      return onStartViewChange(state, message);
    case "doViewChange":
      return onDoViewChange(state, message);
    case "startView":
      return onStartView(state, message);
    case "requestStartView":
      return onRequestStartView(state, message);
    case "viewNumber":
      return onViewNumber(state, message);
    case "requestPrepare":
      return onRequestPrepare(state, message);
    case "prepareGone":
      return onPrepareGone(state, message);
    case "askToLead":
      return onAskToLead(state, message);
  }
}

function isPeer(state: GroupState, replica: number): boolean {
  return (
    Number.isInteger(replica) && replica >= 0 && replica < state.replicaCount && replica !== state.replica
  );
}

function hasBegunElsewhere(state: GroupState, view: number): boolean {
  return view > state.view || (view === state.view && state.status === "view-change");
}
