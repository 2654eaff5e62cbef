import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import { assertSameOp } from "../log.ts";
import type { CommitMessage } from "../messages/commit.ts";
import type { Output } from "../output.ts";
import { askForStartView } from "../recovery/on-recovery-tick.ts";
import { advance } from "../repair/advance.ts";
import { heardPrimary } from "../view-change/ask-for-view.ts";
import { learnCommit } from "./commit-ready-ops.ts";

/**
 * A backup learns how far the primary has committed and follows as far as its own journal reaches.
 *
 * One that lacks the log of the view asks for it. What it has committed itself must be the same op there,
 * or the logs have forked and it stops.
 * @see Viewstamped Replication Revisited, section 4.1, step 7
 */
export function onCommit(state: GroupState, message: CommitMessage): readonly Output[] {
  if (state.isPrimary || message.view !== state.view) return NO_OUTPUTS;
  heardPrimary(state);
  if (state.status !== "normal" && state.target === undefined)
    return state.isProbing ? NO_OUTPUTS : askForStartView(state);
  assertSameOp(state, message.commit, message.commitChecksum);
  learnCommit(state, message.commit);
  return advance(state);
}
