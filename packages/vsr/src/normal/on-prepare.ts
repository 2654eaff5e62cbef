import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { PrepareMessage } from "../messages/prepare-message.ts";
import type { Output } from "../output.ts";
import { commitReadyOps, learnCommit } from "./commit-ready-ops.ts";

/**
 * Accepts the next op of the primary's log and hands it to the journal; prepareOk follows the journal write.
 *
 * A repeated prepare that is journaled already is acknowledged again, for the first prepareOk may be lost.
 * One that leaves a gap, does not continue the chain or finds no room changes nothing: it is sent again, or
 * repaired.
 * @see Viewstamped Replication Revisited, section 4.1, step 4
 */
export function onPrepare(state: GroupState, message: PrepareMessage): readonly Output[] {
  const { prepare, view } = message;
  if (view !== state.view || state.isPrimary) return NO_OUTPUTS;
  const outputs: Output[] = [];
  const pending = state.pipeline.get(prepare.op);
  if (pending?.written && pending.prepare.checksum === prepare.checksum) {
    outputs.push(prepareOk(state, prepare.op, prepare.checksum));
  } else if (continuesLog(state, message)) {
    state.op = prepare.op;
    state.lastChecksum = prepare.checksum;
    state.pipeline.push(prepare);
    outputs.push({ kind: "journal-write", prepare });
  }
  learnCommit(state, prepare.commit);
  outputs.push(...commitReadyOps(state));
  return outputs;
}

/** The prepareOk of this replica's own journal for `op`, addressed to the primary. */
export function prepareOk(state: GroupState, op: number, prepareChecksum: bigint): Output {
  const { view, replica } = state;
  return {
    kind: "send",
    to: state.primary,
    message: { kind: "prepareOk", view, op, prepareChecksum, replica },
  };
}

function continuesLog(state: GroupState, { prepare }: PrepareMessage): boolean {
  return (
    prepare.op === state.op + 1 &&
    prepare.parent === state.lastChecksum &&
    state.pipeline.free > 0 &&
    prepare.checksum === state.checksumOf(prepare)
  );
}
