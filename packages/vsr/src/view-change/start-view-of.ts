import type { GroupState } from "../group-state.ts";
import type { StartView } from "../messages/start-view.ts";
import { headersAboveCommit } from "./give-do-view-change.ts";

/**
 * The log of the view as its acting primary tells it.
 * @param nonce  of the request this answers; 0 when nobody asked
 */
export function startViewOf(state: GroupState, nonce: number): StartView {
  const { view, op, commit, commitChecksum } = state;
  const headers = headersAboveCommit(state);
  return { kind: "startView", view, op, commit, commitChecksum, headers, nonce };
}
