import { assert } from "@millrace/errors";
import type { ClientTable } from "../client-table/client-table.ts";
import type { GroupState } from "../group-state.ts";
import { learnCommit } from "../normal/commit-ready-ops.ts";
import type { Output } from "../output.ts";
import { advance } from "./advance.ts";

/** Where a fetched state stands. */
export interface StateInstalled {
  readonly op: number;
  readonly checksum: bigint;
  readonly clientTable?: ClientTable;
}

/**
 * A peer's state took the place of this replica's: its log is empty and starts after `op`, which is
 * committed.
 *
 * Whatever the own log held is either part of that state or was never committed.
 * @see Viewstamped Replication Revisited, section 5.2, the last paragraph
 */
export function onStateInstalled(state: GroupState, installed: StateInstalled): readonly Output[] {
  const { repair } = state;
  const { op, checksum, clientTable } = installed;
  assert(repair.stateAwaited !== undefined, "a state is installed when it was asked for");
  assert(op >= repair.stateAwaited, "a state reaches at least as far as it was asked to");
  assert(state.clientTable === undefined || clientTable !== undefined, "a state brings its client table");
  if (clientTable !== undefined) state.clientTable = clientTable;
  repair.stateAwaited = undefined;
  repair.isRefetch = false;
  repair.isReplacing = false;
  repair.asked = 0;
  state.pipeline.reset(op);
  state.op = op;
  state.lastChecksum = checksum;
  state.commit = op;
  state.commitChecksum = checksum;
  state.verified = op;
  learnCommit(state, op);
  return advance(state);
}
