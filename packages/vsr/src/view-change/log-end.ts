import { assert } from "@millrace/errors";
import type { GroupState } from "../group-state.ts";
import { assertSameOp, checksumAt, cutTo } from "../log.ts";
import { learnCommit } from "../normal/commit-ready-ops.ts";
import type { Output } from "../output.ts";
import type { PrepareHeader } from "../prepare-header.ts";

/** The end of a log as a message tells it. */
export interface LogEnd {
  readonly op: number;
  readonly commit: number;
  readonly commitChecksum: bigint;
  /** Ops `commit + 1` to `op`, in order. */
  readonly headers: readonly PrepareHeader[];
}

/** Whether headers run from the commit to the op and each is chained to the one before. */
export function isWellFormed({ op, commit, commitChecksum, headers }: LogEnd): boolean {
  let parent = commitChecksum;
  let expected = commit;
  for (const header of headers) {
    expected += 1;
    if (header.op !== expected || header.parent !== parent) return false;
    parent = header.checksum;
  }
  return expected === op;
}

/**
 * Takes `log` for the log of the view: cuts what differs from it at the end of the own one, as far as `log`
 * tells, and notes what is lacking and that `source` has it.
 *
 * Where `log` starts after this replica's ops above the commit, these stay in doubt: repair asks for the last
 * of them. A replica that waits for a peer's state has no log to compare: it asks `source` for the state. One
 * that only wanted to replace what is damaged gives that up: the view may not get on without its log.
 */
export function adoptLog(state: GroupState, log: LogEnd, source: number): readonly Output[] {
  const { repair } = state;
  repair.forget(state.op);
  repair.opKnown = log.op;
  repair.headers = log.headers;
  repair.source = source;
  state.target = log.op;
  learnCommit(state, log.commit);
  repair.giveUpRefetch();
  if (repair.stateAwaited !== undefined)
    return [{ kind: "request-state", from: source, op: repair.stateAwaited }];
  assert(log.op >= state.commit, "what is committed is in the log of every later view");
  assertSameOp(state, state.commit, checksumIn(log, state.commit));
  let op = Math.min(state.op, log.op);
  while (op > state.commit && differs(state, log, op)) op -= 1;
  const isKnown = op === state.commit || checksumIn(log, op) !== undefined;
  const outputs = cutTo(state, Math.max(op, state.commit));
  state.verified = isKnown ? state.op : state.commit;
  return outputs;
}

function differs(state: GroupState, log: LogEnd, op: number): boolean {
  const expected = checksumIn(log, op);
  return expected !== undefined && expected !== checksumAt(state, op);
}

/** Checksum of `op` in `log`, as far as it tells. */
export function checksumIn(log: LogEnd, op: number): bigint | undefined {
  return op === log.commit ? log.commitChecksum : log.headers[op - log.commit - 1]?.checksum;
}
