import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { RequestPrepare } from "../messages/request-prepare.ts";
import type { Output } from "../output.ts";
import type { Pending } from "../pipeline.ts";

/**
 * Sends a peer an op from memory, or has it read from the journal when it is committed.
 *
 * Without a checksum only what certainly belongs to the log of the view leaves: committed ops, or any op of a
 * replica that is normal in it. A primary that is still merging names the checksum and gets any holder's op.
 * @see Viewstamped Replication Revisited, section 5.2
 */
export function onRequestPrepare(state: GroupState, message: RequestPrepare): readonly Output[] {
  const { view, op, prepareChecksum, replica: to } = message;
  if (view !== state.view) return NO_OUTPUTS;
  noteCatchingUp(state, to, op);
  const pending = state.pipeline.get(op);
  if (pending !== undefined) {
    if (!mayAnswer(state, pending, prepareChecksum)) return NO_OUTPUTS;
    return [{ kind: "send", to, message: { kind: "prepare", view, prepare: pending.prepare } }];
  }
  const isBusy = state.repair.isJournalBusy && !state.repair.isWhole;
  if (op < 1 || op > state.commit || isBusy) return NO_OUTPUTS;
  return [{ kind: "journal-read", op, checksum: prepareChecksum, to }];
}

/**
 * A backup that asks its primary for later and later ops hears it and comes nearer: nobody would lead better,
 * so the primary that waits for it to commit anything has patience anew. The log is finite, and so is that.
 */
function noteCatchingUp(state: GroupState, replica: number, op: number): void {
  const isLater = op > (state.caughtUpTo[replica] ?? 0) && op <= state.op;
  if (!state.isPrimary || state.isAsking || !isLater) return;
  state.caughtUpTo[replica] = op;
  const { timers, ticks } = state;
  timers.patience.start(ticks, timers.timing.heartbeatTimeout);
}

function mayAnswer(state: GroupState, { prepare }: Pending, wanted: bigint): boolean {
  if (wanted !== 0n) return prepare.checksum === wanted;
  return state.status === "normal" || prepare.op <= state.commit;
}
