import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { DoViewChange } from "../messages/do-view-change.ts";
import type { Output } from "../output.ts";
import { changeView } from "./change-view.ts";
import { giveDoViewChange } from "./give-do-view-change.ts";
import { isWellFormed } from "./log-end.ts";
import { startViewOf } from "./start-view-of.ts";

/**
 * The primary of a view that has not begun collects logs; that a peer gives its own means that a quorum
 * asked.
 *
 * Once the view has begun, the answer is its log.
 * @see Viewstamped Replication Revisited, section 4.2, step 3
 */
export function onDoViewChange(state: GroupState, message: DoViewChange): readonly Output[] {
  const { view, replica } = message;
  if (state.isProbing || view < state.view || view % state.replicaCount !== state.replica) return NO_OUTPUTS;
  if (!isWellFormed(message)) return NO_OUTPUTS;
  if (state.isPrimary && view === state.view)
    return [{ kind: "send", to: replica, message: startViewOf(state, 0) }];
  const outputs: Output[] = [];
  const isBehind = view > state.view;
  const isNew = state.logView < state.view && !state.mayHaveBeenInView;
  const isWaiting = state.status === "recovering" && isNew && state.target === undefined;
  if (isBehind || isWaiting) outputs.push(...changeView(state, view));
  if (state.status !== "view-change") return outputs;
  state.doViewChanges[replica] = message;
  outputs.push(...giveDoViewChange(state));
  return outputs;
}
