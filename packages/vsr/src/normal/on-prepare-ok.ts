import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { PrepareOk } from "../messages/prepare-ok.ts";
import type { Output } from "../output.ts";
import { commitReadyOps } from "./commit-ready-ops.ts";

/**
 * Counts one backup's prepareOk and commits every op that now has a quorum, in op order.
 *
 * A stale or repeated one, and one of another view, changes nothing: whoever acknowledges in this view
 * holds its whole log, which a prepareOk of an older view does not say. Departure from the paper: a
 * prepareOk stands for its own op only, not for all earlier ones, since journals finish their writes in any
 * order.
 * @see Viewstamped Replication Revisited, section 4.1, step 5
 */
export function onPrepareOk(state: GroupState, message: PrepareOk): readonly Output[] {
  if (!state.isPrimary || message.view !== state.view) return NO_OUTPUTS;
  const pending = state.pipeline.get(message.op);
  if (pending === undefined || pending.prepare.checksum !== message.prepareChecksum) return NO_OUTPUTS;
  pending.oks |= 1 << message.replica;
  return commitReadyOps(state);
}
