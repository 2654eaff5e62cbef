import { assert } from "@millrace/errors";
import type { GroupState } from "../group-state.ts";
import { cutTo } from "../log.ts";
import type { Output } from "../output.ts";
import type { Prepare } from "../prepare.ts";

/**
 * Compares the last op of this replica's log with the one that the log of the view has there.
 *
 * The hash chain makes one op speak for all before it. When it is another one, it goes; so does the op before
 * it when that is not the parent of the right one, and the question is asked again one further down.
 * @see Viewstamped Replication Revisited, section 5.2. Departure: the paper replaces the whole log.
 */
export function verifyEnd(state: GroupState, prepare: Prepare): readonly Output[] {
  if (prepare.op !== state.op) return [];
  if (prepare.checksum === state.lastChecksum) {
    state.verified = state.op;
    return [];
  }
  const before = state.pipeline.get(prepare.op - 1)?.prepare.checksum;
  const hasParent = (prepare.op - 1 === state.commit ? state.commitChecksum : before) === prepare.parent;
  assert(hasParent || prepare.op - 1 > state.commit, "the log of a view is the same on every replica");
  const outputs = cutTo(state, hasParent ? prepare.op - 1 : prepare.op - 2);
  if (hasParent) state.verified = state.op;
  return outputs;
}
