import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { Output } from "../output.ts";
import type { Prepare } from "../prepare.ts";

/** What a `journal-read` found. */
export interface JournalRead {
  readonly op: number;
  readonly checksum: bigint;
  readonly to: number;
  readonly prepare: Prepare | undefined;
}

/**
 * Passes on a committed op that a peer asked for, or tells it that the journal no longer has it.
 *
 * The view may have changed meanwhile: what is committed belongs to every log since.
 * @see Viewstamped Replication Revisited, section 5.2
 */
export function onJournalRead(state: GroupState, { op, checksum, to, prepare }: JournalRead) {
  if (op > state.commit || to === state.replica) return NO_OUTPUTS;
  const { view, replica } = state;
  if (prepare === undefined) return [sent(to, { kind: "prepareGone", view, replica, op })];
  if (checksum !== 0n && prepare.checksum !== checksum) return NO_OUTPUTS;
  return [sent(to, { kind: "prepare", view, prepare })];
}

function sent(to: number, message: Extract<Output, { kind: "send" }>["message"]): Output {
  return { kind: "send", to, message };
}
