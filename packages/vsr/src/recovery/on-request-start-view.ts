import type { GroupState } from "../group-state.ts";
import type { RequestStartView } from "../messages/request-start-view.ts";
import type { Output } from "../output.ts";
import { startViewOf } from "../view-change/start-view-of.ts";

/**
 * The acting primary tells a peer the log of its view, unless the peer knows of a later one; and everybody
 * tells a peer that lost its superblock the view of its own.
 * @see Viewstamped Replication Revisited, section 4.3, step 2
 */
export function onRequestStartView(state: GroupState, message: RequestStartView): readonly Output[] {
  const { replica: to, nonce, wantsViews } = message;
  const outputs: Output[] = [];
  if (state.isProbing) state.probers |= 1 << to;
  if (wantsViews && !state.isViewForgotten) {
    const { viewPersisted: view, replica } = state;
    outputs.push({ kind: "send", to, message: { kind: "viewNumber", view, replica, nonce } });
  }
  if (state.isPrimary && message.view <= state.view)
    outputs.push({ kind: "send", to, message: startViewOf(state, nonce) });
  return outputs;
}
