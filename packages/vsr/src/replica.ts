import { GroupState, NO_OUTPUTS } from "./group-state.ts";
import type { Input } from "./input.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import { onApplied } from "./normal/on-applied.ts";
import { onCommit } from "./normal/on-commit.ts";
import { onJournalWritten } from "./normal/on-journal-written.ts";
import { onPrepare } from "./normal/on-prepare.ts";
import { onPrepareOk } from "./normal/on-prepare-ok.ts";
import { onRequest } from "./normal/on-request.ts";
import { onTick } from "./normal/on-tick.ts";
import type { Output } from "./output.ts";
import type { ReplicaOptions } from "./replica-options.ts";

/**
 * One replica of one group: a state machine that takes inputs and returns outputs.
 *
 * The same inputs in the same order give the same outputs, always. Outputs are to be performed in order; none
 * waits for another. The host feeds completions back as further inputs, also from inside performing an
 * output.
 * @see Viewstamped Replication Revisited, section 4.1
 */
export class Replica {
  readonly #state: GroupState;

  constructor(options: ReplicaOptions) {
    this.#state = new GroupState(options);
  }

  get status(): "normal" {
    return this.#state.status;
  }

  get view(): number {
    return this.#state.view;
  }

  /** Last op that has a number, committed or not. */
  get op(): number {
    return this.#state.op;
  }

  /** Last committed op. */
  get commit(): number {
    return this.#state.commit;
  }

  get isPrimary(): boolean {
    return this.#state.isPrimary;
  }

  /** Requests that fit now; at 0 the next one is rejected with 58, so a host keeps it waiting itself. */
  get pipelineFree(): number {
    return this.#state.pipeline.free;
  }

  /** Checksum of `op`. */
  get lastChecksum(): bigint {
    return this.#state.lastChecksum;
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
        return this.#onMessage(input.from, input.message);
      case "tick":
        return onTick(state);
      default:
        return NO_OUTPUTS;
    }
  }

  /** A message counts as the authenticated sender's; what it says about itself must agree. */
  #onMessage(from: number, message: ReplicaMessage): readonly Output[] {
    const state = this.#state;
    switch (message.kind) {
      case "prepare":
        return from === state.primary ? onPrepare(state, message) : NO_OUTPUTS;
      case "prepareOk":
        return from === message.replica && isPeer(state, from) ? onPrepareOk(state, message) : NO_OUTPUTS;
      case "commit":
        return from === state.primary ? onCommit(state, message) : NO_OUTPUTS;
      default:
        return NO_OUTPUTS;
    }
  }
}

function isPeer(state: GroupState, replica: number): boolean {
  return (
    Number.isInteger(replica) && replica >= 0 && replica < state.replicaCount && replica !== state.replica
  );
}
