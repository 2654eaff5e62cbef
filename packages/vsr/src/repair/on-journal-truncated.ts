import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import { advance } from "./advance.ts";

/**
 * The part of the journal that is not in the log of the view is gone: what belongs there can be written.
 *
 * Of several cuts the last one counts.
 * @see Viewstamped Replication Revisited, section 4.2, step 5
 */
export function onJournalTruncated(state: GroupState, op: number): readonly Output[] {
  if (state.repair.truncatingTo !== op) return NO_OUTPUTS;
  state.repair.truncatingTo = undefined;
  return advance(state);
}
