import { GroupState, NO_OUTPUTS, type ReplicaStatus, type ViewCause } from "./group-state.ts";
import type { Input } from "./input.ts";
import { onApplied } from "./normal/on-applied.ts";
import { onJournalWritten } from "./normal/on-journal-written.ts";
import { onRequest } from "./normal/on-request.ts";
import { onTick } from "./normal/on-tick.ts";
import { onMessage } from "./on-message.ts";
import type { Output } from "./output.ts";
import { onJournalRead } from "./repair/on-journal-read.ts";
import { onJournalTruncated } from "./repair/on-journal-truncated.ts";
import { onRefetch, onStateRefused, onStateReplacing } from "./repair/on-refetch.ts";
import { onStateInstalled } from "./repair/on-state-installed.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import { onLead, onYield } from "./view-change/hand-over.ts";
import { onViewPersisted } from "./view-change/on-view-persisted.ts";

/**
 * One replica of one group: a state machine that takes inputs and returns outputs.
 *
 * The same inputs in the same order give the same outputs, always. Outputs are to be performed in order; none
 * waits for another. The host feeds completions back as further inputs, also from inside performing an
 * output.
 * @see Viewstamped Replication Revisited, section 4
 */
export class Replica {
  readonly #state: GroupState;

  constructor(options: ReplicaOptions) {
    this.#state = new GroupState(options);
  }

  get status(): ReplicaStatus {
    return this.#state.status;
  }

  get view(): number {
    return this.#state.view;
  }

  /** Last view whose log this replica held in full. */
  get logView(): number {
    return this.#state.logView;
  }

  /** Last op that has a number, committed or not. */
  get op(): number {
    return this.#state.op;
  }

  /** Last committed op. */
  get commit(): number {
    return this.#state.commit;
  }

  /** Highest op known to be committed anywhere; above `commit` while this replica is behind. */
  get commitKnown(): number {
    return this.#state.commitKnown;
  }

  /** Why it left the view before this one; nothing while it has not left any. */
  get viewCause(): ViewCause | undefined {
    return this.#state.viewCause;
  }

  /** Acts as the primary of its view. Another replica may act in a later one already. */
  get isPrimary(): boolean {
    return this.#state.isPrimary;
  }

  /** It has asked the primary to let it lead, a moment ago: what is to be numbered may wait for that. */
  get asksToLead(): boolean {
    return this.#state.status === "normal" && this.#state.ticks < this.#state.asksToLeadUntil;
  }

  /** Index of the primary of this replica's view, whether or not the view has begun. */
  get primary(): number {
    return this.#state.primary;
  }

  /** Requests that fit now; at 0 the next one is rejected with 58, so a host keeps it waiting itself. */
  get pipelineFree(): number {
    return this.#state.requestsFree;
  }

  /** The op that a state has to reach which `request-state` asked for and that is not installed yet. */
  get stateAwaited(): number | undefined {
    return this.#state.repair.stateAwaited;
  }

  /** Checksum of `op`. */
  get lastChecksum(): bigint {
    return this.#state.lastChecksum;
  }

  /** Checksum of `commit`. */
  get commitChecksum(): bigint {
    return this.#state.commitChecksum;
  }

  /**
   * Takes one input and returns what to do now. Stale and repeated inputs change nothing and return nothing.
   */
  step(input: Input): readonly Output[] {
    const state = this.#state;
    switch (input.kind) {
      case "request":
        return onRequest(state, input.request);
      case "journal-written":
        return onJournalWritten(state, input.op, input.checksum);
      case "applied":
        return onApplied(state, input.op, input.reply);
      case "message":
        return state.replicaCount === 1 ? NO_OUTPUTS : onMessage(state, input.from, input.message);
      case "tick":
        return onTick(state);
      case "lead":
        return state.replicaCount === 1 ? NO_OUTPUTS : onLead(state);
      case "yield":
        return onYield(state, input.to);
      case "state-replacing":
        return onStateReplacing(state);
      case "state-refused":
        return onStateRefused(state);
      case "refetch":
        return onRefetch(state);
      case "view-persisted":
        return onViewPersisted(state, input.view, input.logView);
      case "journal-truncated":
        return onJournalTruncated(state, input.op);
      case "journal-read":
        return onJournalRead(state, input);
      case "state-installed":
        return onStateInstalled(state, input);
    }
  }
}
