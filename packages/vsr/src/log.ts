import { assert } from "@millrace/errors";
import type { GroupState } from "./group-state.ts";
import type { Output } from "./output.ts";
import type { Prepare } from "./prepare.ts";

/** Takes the next op of the view's log and has it journaled. */
export function append(state: GroupState, prepare: Prepare): Output {
  state.pipeline.push(prepare);
  state.op = prepare.op;
  state.lastChecksum = prepare.checksum;
  state.verified = prepare.op;
  return { kind: "journal-write", prepare };
}

/** Checksum of an op of this replica's log that is in memory. */
export function checksumAt(state: GroupState, op: number): bigint | undefined {
  if (op === state.commit) return state.commitChecksum;
  if (op === state.op) return state.lastChecksum;
  return state.pipeline.get(op)?.prepare.checksum;
}

/** Cuts everything above `op`, which is not in the log of the view. Nothing is written until it is gone. */
export function cutTo(state: GroupState, op: number): readonly Output[] {
  assert(op >= state.commit, "what is committed is never cut");
  if (op >= state.op) return [];
  const checksum = checksumAt(state, op);
  assert(checksum !== undefined, "every op above the commit is in memory");
  state.pipeline.cutTo(op);
  state.op = op;
  state.lastChecksum = checksum;
  state.verified = Math.min(state.verified, op);
  state.repair.asked = 0;
  state.repair.truncatingTo = op;
  return [{ kind: "journal-truncate", op }];
}

/**
 * Stops the replica when an op that its log is sure of is another one elsewhere: then the logs have forked,
 * and nothing that this replica could still say is worth anything.
 */
export function assertSameOp(state: GroupState, op: number, checksum: bigint | undefined): void {
  if (checksum === undefined || op > state.verified) return;
  const own = checksumAt(state, op);
  assert(own === undefined || own === checksum, "the log of a view is the same on every replica");
}
