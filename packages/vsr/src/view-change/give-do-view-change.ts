import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { DoViewChange } from "../messages/do-view-change.ts";
import type { Output } from "../output.ts";
import { headerOf, type PrepareHeader } from "../prepare-header.ts";
import { mergeWhenReady } from "./merge-when-ready.ts";

/**
 * Gives this replica's log to the primary of the view it goes to, once the superblock holds that view.
 *
 * The primary gives it to itself. What is repeated is what the log is now.
 * @see Viewstamped Replication Revisited, section 4.2, step 2
 */
export function giveDoViewChange(state: GroupState): readonly Output[] {
  if (state.status !== "view-change" || state.viewPersisted !== state.view) return NO_OUTPUTS;
  if (state.primary === state.replica) return mergeWhenReady(state);
  return [{ kind: "send", to: state.primary, message: doViewChangeOf(state) }];
}

/** This replica's log as its peers are told of it. */
export function doViewChangeOf(state: GroupState): DoViewChange {
  const { view, replica, logView, op, commit, commitChecksum, mayHaveLost } = state;
  const headers = headersAboveCommit(state);
  return { kind: "doViewChange", view, replica, logView, op, commit, commitChecksum, headers, mayHaveLost };
}

/** Headers of ops `commit + 1` to `op`, all of which are in memory. */
export function headersAboveCommit(state: GroupState): PrepareHeader[] {
  const headers: PrepareHeader[] = [];
  state.pipeline.forEach(({ prepare }) => {
    if (prepare.op > state.commit) headers.push(headerOf(prepare));
  });
  return headers;
}
