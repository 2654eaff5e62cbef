import { settle } from "../client-table/settle.ts";
import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { repairFurther } from "../repair/repair-further.ts";

/**
 * Records a committed op's answer in the client table; the primary that numbered the op sends it.
 *
 * Applying is strictly in op order: an answer for any op but the oldest unanswered one changes nothing. In a
 * group without a client table no op waits here. Ops of older views have no client here: it was told that the
 * outcome is open, or lost its connection.
 * @see Viewstamped Replication Revisited, section 4.1, step 7
 */
export function onApplied(state: GroupState, op: number, body: Uint8Array): readonly Output[] {
  if (state.clientTable === undefined || op > state.commit) return NO_OUTPUTS;
  const pending = state.pipeline.get(op);
  if (pending === undefined || state.pipeline.get(op - 1) !== undefined) return NO_OUTPUTS;
  const answer = settle(state.clientTable, pending.prepare, body);
  state.pipeline.releaseFirst();
  if (state.isPrimary) return pending.prepare.view === state.view ? [answer] : NO_OUTPUTS;
  return state.repair.isActive ? repairFurther(state) : NO_OUTPUTS;
}
