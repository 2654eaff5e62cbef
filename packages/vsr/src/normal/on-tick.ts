import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { ReplicaMessage } from "../messages/replica-message.ts";
import type { Output } from "../output.ts";

/** A tick is 10 ms: prepares that lack an answer are sent again after 250 ms. */
const PREPARE_RETRANSMIT_TICKS = 25;
/** And the commit number goes to everyone every 500 ms, whether or not prepares carry it. */
const COMMIT_BROADCAST_TICKS = 50;

/**
 * Time passes: the primary of several replicas repeats what may have been lost.
 * @see Viewstamped Replication Revisited, section 4.1, step 6; server-semantics, section 19, timing
 */
export function onTick(state: GroupState): readonly Output[] {
  if (state.replicaCount === 1 || !state.isPrimary) return NO_OUTPUTS;
  state.ticks += 1;
  const outputs: Output[] = [];
  if (state.ticks % PREPARE_RETRANSMIT_TICKS === 0) resendPrepares(state, outputs);
  if (state.ticks % COMMIT_BROADCAST_TICKS === 0) broadcastCommit(state, outputs);
  return outputs;
}

function resendPrepares(state: GroupState, outputs: Output[]): void {
  for (let op = state.commit + 1; op <= state.op; op += 1) {
    const pending = state.pipeline.get(op);
    if (pending === undefined) continue;
    const message: ReplicaMessage = { kind: "prepare", view: state.view, prepare: pending.prepare };
    for (let to = 0; to < state.replicaCount; to += 1) {
      const answered = (pending.oks & (1 << to)) !== 0;
      if (to !== state.replica && !answered) outputs.push({ kind: "send", to, message });
    }
  }
}

function broadcastCommit(state: GroupState, outputs: Output[]): void {
  const message: ReplicaMessage = {
    kind: "commit",
    view: state.view,
    commit: state.commit,
    commitChecksum: 0n,
  };
  for (let to = 0; to < state.replicaCount; to += 1) {
    if (to !== state.replica) outputs.push({ kind: "send", to, message });
  }
}
