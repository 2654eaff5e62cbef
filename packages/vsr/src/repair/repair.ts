import type { PrepareHeader } from "../prepare-header.ts";

/** Ops that are asked for at once even where messages overtake each other or peers are slow. */
export const ROUND_LENGTH_MIN = 8;

/** How far a replica is in getting what its log lacks. */
export class Repair {
  /** Rounds are being asked for; otherwise a gap is left to the primary's repetitions for a while. */
  isActive = false;
  /** Highest op that is known to exist in the log of the view. */
  opKnown = 0;
  /** Highest op asked for in this round. */
  asked = 0;
  /** Ops that came before the one they follow, not kept; at most a pipeline of them. */
  readonly early = new Set<number>();
  /**
   * Length of the next round: twice that of a round that came in order, half of one that did not; few after
   * one that stalled.
   */
  roundLength = Number.POSITIVE_INFINITY;
  /** Whom to ask. */
  source = 0;
  /** The end of the view's log as it was announced, in op order. */
  headers: readonly PrepareHeader[] = [];
  /** A cut of the journal down to this op is under way: nothing is written meanwhile. */
  truncatingTo: number | undefined = undefined;
  /** A peer's state of at least this op is being fetched: nothing is written meanwhile. */
  stateAwaited: number | undefined = undefined;

  /** The state is fetched in place of a log that lacks nothing, because what holds it is damaged. */
  isRefetch = false;
  /** The host is putting it in the place of the journal. */
  isReplacing = false;

  /** The journal holds all of the own log until the state that is fetched takes its place. */
  get isWhole(): boolean {
    return this.isRefetch && this.truncatingTo === undefined;
  }

  /**
   * A state that is not being put in place yet is fetched no longer, when the log lacks nothing without it.
   */
  giveUpRefetch(): void {
    if (!this.isRefetch || this.isReplacing) return;
    this.isRefetch = false;
    this.stateAwaited = undefined;
  }

  /** The host is changing the journal as a whole. */
  get isJournalBusy(): boolean {
    return this.truncatingTo !== undefined || this.stateAwaited !== undefined;
  }

  /** Checksum that `op` has in the announced end of the log, if it is there. */
  checksumAt(op: number): bigint | undefined {
    const first = this.headers[0];
    return first === undefined ? undefined : this.headers[op - first.op]?.checksum;
  }

  /** Another view: what was known of the log no longer counts. What the host is doing goes on. */
  forget(op: number): void {
    this.isActive = false;
    this.opKnown = op;
    this.asked = 0;
    this.early.clear();
    this.headers = [];
  }
}
