import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { RequestStartView } from "../messages/request-start-view.ts";
import type { Output } from "../output.ts";
import { startViewOf } from "../view-change/start-view-of.ts";

/**
 * The acting primary tells a peer that is not behind a later view the log of this one.
 * @see Viewstamped Replication Revisited, section 4.3, step 2
 */
export function onRequestStartView(state: GroupState, message: RequestStartView): readonly Output[] {
  if (!state.isPrimary || message.view > state.view) return NO_OUTPUTS;
  return [{ kind: "send", to: message.replica, message: startViewOf(state, message.nonce) }];
}
