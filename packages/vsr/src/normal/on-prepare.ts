import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import { append, assertSameOp } from "../log.ts";
import type { PrepareMessage } from "../messages/prepare-message.ts";
import type { Output } from "../output.ts";
import type { Prepare } from "../prepare.ts";
import { advance } from "../repair/advance.ts";
import { ROUND_LENGTH_MIN } from "../repair/repair.ts";
import { verifyEnd } from "../repair/verify-end.ts";
import { heardPrimary } from "../view-change/ask-for-view.ts";
import { learnCommit } from "./commit-ready-ops.ts";

/**
 * Accepts the next op of the view's log and hands it to the journal; prepareOk follows the journal write.
 *
 * It comes from the primary, or from any peer as the answer to a requestPrepare: a peer only answers with
 * what belongs to the log of the view. A repeated prepare that is journaled already is acknowledged again,
 * for the first prepareOk may be lost. One that leaves a gap, does not continue the chain or finds no room
 * changes nothing: it is sent again, or repaired. A next op of the primary with another parent is a fork. A
 * replica that waits for a view to begin takes none.
 * @see Viewstamped Replication Revisited, section 4.1, step 4, and section 5.2
 */
export function onPrepare(state: GroupState, from: number, message: PrepareMessage): readonly Output[] {
  const { prepare, view } = message;
  if (!isOfView(state, view) || state.isPrimary) return NO_OUTPUTS;
  if (from === state.primary) heardPrimary(state);
  if (state.status !== "normal" && state.target === undefined) return NO_OUTPUTS;
  learnCommit(state, prepare.commit);
  if (prepare.checksum !== state.checksumOf(prepare)) return NO_OUTPUTS;
  if (state.repair.isJournalBusy) return state.repair.isWhole ? acknowledgeAgain(state, prepare) : NO_OUTPUTS;
  if (state.verified < state.op) return [...verifyEnd(state, prepare), ...advance(state)];
  if (from === state.primary && prepare.op === state.op + 1) assertSameOp(state, state.op, prepare.parent);
  return [...accept(state, prepare), ...advance(state)];
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

function accept(state: GroupState, prepare: Prepare): Output[] {
  const { op, checksum } = prepare;
  if (isHeld(state, prepare)) return acknowledgeAgain(state, prepare);
  if (isNext(state, prepare)) {
    const write = append(state, prepare);
    const isTooEarly = state.mutations.ackBeforeJournalWrite === true && state.status === "normal";
    askAgainForEarly(state);
    return isTooEarly ? [prepareOk(state, op, checksum), write] : [write];
  }
  if (op > state.op && isWanted(state, op)) noteEarly(state, op);
  return [];
}

function isHeld({ commit, pipeline }: GroupState, { op, checksum }: Prepare): boolean {
  const pending = pipeline.get(op);
  return op <= commit || (pending?.written === true && pending.prepare.checksum === checksum);
}

/** The first prepareOk of what is journaled may be lost. */
function acknowledgeAgain(state: GroupState, prepare: Prepare): Output[] {
  const mayAnswer = state.status === "normal" && isHeld(state, prepare);
  return mayAnswer ? [prepareOk(state, prepare.op, prepare.checksum)] : [];
}

function noteEarly({ repair, op: own, pipeline }: GroupState, op: number): void {
  if (op > repair.opKnown) repair.opKnown = op;
  if (op > own + 1 && op <= own + pipeline.depth) repair.early.add(op);
}

/** The op after the one just taken was here before it and was not kept: it need not be waited for. */
function askAgainForEarly(state: GroupState): void {
  const { repair } = state;
  if (!repair.early.has(state.op + 1)) return;
  if (!repair.isActive) repair.source = state.primary;
  repair.isActive = true;
  repair.asked = 0;
  repair.roundLength = Math.max(ROUND_LENGTH_MIN, repair.roundLength >> 2);
}

function isNext(state: GroupState, { op, parent, checksum }: Prepare): boolean {
  if (op !== state.op + 1 || parent !== state.lastChecksum || state.pipeline.free === 0) return false;
  const announced = state.repair.checksumAt(op);
  return isWanted(state, op) && (announced === undefined || announced === checksum);
}

/** The next primary completes the log that was merged and nothing more; everybody else takes what comes. */
function isWanted(state: GroupState, op: number): boolean {
  return state.status !== "view-change" || (state.target !== undefined && op <= state.target);
}

/** With the planted bug, what is over is taken for the present. */
function isOfView(state: GroupState, view: number): boolean {
  return view === state.view || (view < state.view && state.mutations.acceptOldView === true);
}
