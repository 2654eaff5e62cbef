import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { ViewNumber } from "../messages/view-number.ts";
import type { Output } from "../output.ts";
import { bitCount } from "../send.ts";

/**
 * A replica without its superblock learns below which view it must not act.
 *
 * Whatever view it took part in, at least as many others did as a view change needs beside it; as many
 * peers as an op is replicated to meet them.
 * @see Viewstamped Replication Revisited, section 4.3, step 3
 */
export function onViewNumber(state: GroupState, message: ViewNumber): readonly Output[] {
  if (!state.isViewForgotten || message.nonce !== state.nonce) return NO_OUTPUTS;
  state.viewsHeard |= 1 << message.replica;
  if (message.view > state.view) state.view = state.viewBefore = message.view;
  const needed = Math.min(state.quorums.replication, state.replicaCount - 1);
  if (bitCount(state.viewsHeard) >= needed) state.isViewForgotten = false;
  return NO_OUTPUTS;
}
