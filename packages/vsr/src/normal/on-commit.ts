import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { CommitMessage } from "../messages/commit.ts";
import type { Output } from "../output.ts";
import { commitReadyOps, learnCommit } from "./commit-ready-ops.ts";

/**
 * A backup learns how far the primary has committed and follows as far as its own journal reaches.
 * @see Viewstamped Replication Revisited, section 4.1, step 7
 */
export function onCommit(state: GroupState, message: CommitMessage): readonly Output[] {
  if (state.isPrimary || message.view !== state.view) return NO_OUTPUTS;
  learnCommit(state, message.commit);
  return commitReadyOps(state);
}
