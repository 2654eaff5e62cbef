import type { Clock, Log } from "@millrace/platform";
import type { Replica } from "@millrace/vsr";

/** Milliseconds after which a replica that comes no further is told of. */
const PATIENCE_MS = 30_000;
/** So many groups are named one by one; of more at once there is a count. */
const NAMED_MAX = 3;

const LACKS =
  "This node lacks operations of a group, and nobody that it reaches has given them for a while; it goes on asking.";
const GOES_ON = "This node comes further again in a group that it lacked operations of.";

/** What is looked at of a group. */
export interface LookedAt {
  readonly replica: Replica;
  /** `metadata`, or stream, topic and partition as `1/2/0`; made only when there is news. */
  name(): string;
  /** Its state is on its way from another node just now. */
  isFetched(): boolean;
}

/** Since when a group has come no further, and where it stands. */
interface Waiting {
  readonly op: number;
  readonly commit: number;
  readonly sinceMs: number;
  isTold: boolean;
}

/**
 * Groups of which this node lacks operations, or does not know the log, and comes no further: whom it asks
 * does not answer, or cannot give what it asks for. It asks for ever, so people are told: by one line in the
 * log, and as a node that is catching up.
 */
export class WaitingGroups {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new WeakMap<object, Waiting>();
  readonly #news: LookedAt[] = [];

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** True once it was told that the group comes no further, until it does. */
  isTold(group: object): boolean {
    return this.#waiting.get(group)?.isTold === true;
  }

  /** Looks at a group; to be called often. @param looked  nothing for one that is silent or not open */
  look(group: object, looked: LookedAt | undefined): void {
    const before = this.#waiting.get(group);
    if (looked === undefined || !lacks(looked.replica)) {
      if (this.#waiting.delete(group) && before?.isTold === true && looked !== undefined)
        this.#log.info(GOES_ON, { group: looked.name() });
      return;
    }
    const { op, commit } = looked.replica;
    if (before?.op !== op || before.commit !== commit || looked.isFetched()) {
      this.#waiting.set(group, { op, commit, sinceMs: this.#clock.monotonicMs(), isTold: false });
    } else if (!before.isTold && this.#clock.monotonicMs() - before.sinceMs >= PATIENCE_MS) {
      before.isTold = true;
      this.#news.push(looked);
    }
  }

  /** Every group was looked at: writes what is new. */
  tell(): void {
    const news = this.#news.splice(0);
    if (news.length > NAMED_MAX) this.#log.warn(LACKS, { groups: news.length, first: news[0]?.name() });
    else for (const { name, replica } of news) this.#tell(name(), replica);
  }

  #tell(group: string, { status, view, primary: leader, op, commitKnown, stateAwaited }: Replica): void {
    const facts = { group, status, view, leader, op, committedElsewhere: commitKnown };
    this.#log.warn(LACKS, stateAwaited === undefined ? facts : { ...facts, stateAwaited });
  }
}

function lacks({ status, isPrimary, commit, commitKnown }: Replica): boolean {
  return status !== "normal" || (!isPrimary && commitKnown > commit);
}
