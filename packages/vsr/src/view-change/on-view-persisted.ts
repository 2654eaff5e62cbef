import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { enterNormal } from "./enter-normal.ts";
import { giveDoViewChange } from "./give-do-view-change.ts";

/**
 * The superblock holds a view and a log view: what relies on them may leave now.
 * @see Viewstamped Replication Revisited, section 4.2; architecture, section 7
 */
export function onViewPersisted(state: GroupState, view: number, logView: number): readonly Output[] {
  state.viewPersisted = view;
  if (view !== state.view) return NO_OUTPUTS;
  if (!state.isPromoted) return giveDoViewChange(state);
  return logView === state.logView ? enterNormal(state) : NO_OUTPUTS;
}
