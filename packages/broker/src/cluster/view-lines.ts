import type { Clock, Log, Timer } from "@millrace/platform";
import type { Replica, ViewCause } from "@millrace/vsr";

/** Milliseconds over which changes of many groups are gathered into one line. */
const GATHER_MS = 1000;
/** So many groups are named one by one; of more at once there is a count. */
const NAMED_MAX = 3;

/** Why a view ended, for people. */
const CAUSES: Readonly<Record<ViewCause | "started", string>> = {
  "primary-silent": "the one before was not heard, or could not commit",
  "no-primary": "nobody led it when this node started",
  "handed-over": "the one before handed it over to this one",
  peers: "other nodes asked for it",
  started: "this node started",
};

/** Which group a line is about. */
export interface GroupName {
  /** `metadata`, or stream, topic and partition as `1/2/0`. */
  readonly group: string;
}

interface Change extends GroupName {
  readonly view: number;
  /** Nothing when this node has just started. */
  readonly before: number | undefined;
  readonly leader: number;
  readonly because: string;
}

/**
 * One line in the log for each view of a group that begins: who leads it now, and why. Where many groups
 * change at once they are counted, one line per node that leads them.
 */
export class ViewLines {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #replica: number;
  readonly #views = new WeakMap<object, number>();
  #gathered: Change[] = [];
  #timer: Timer | undefined = undefined;
  /** Views that began, of groups that were in one before. */
  readonly #changed: (group: GroupName) => void;

  constructor(options: {
    readonly clock: Clock;
    readonly log: Log;
    readonly replica: number;
    /** Called for each view that began after another one. */
    changed(group: GroupName): void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#replica = options.replica;
    this.#changed = options.changed;
  }

  /** Looks at a group's replica; to be called often. @param name  made only when there is news */
  look(group: object, replica: Replica | undefined, name: () => string): void {
    if (replica === undefined || replica.status !== "normal") return;
    const before = this.#views.get(group);
    const { view, primary: leader } = replica;
    if (before === view) return;
    this.#views.set(group, view);
    const change = { group: name(), view, before, leader, because: becauseOf(before, replica) };
    if (before !== undefined) this.#changed(change);
    this.#gather(change);
  }

  /** Writes what was gathered. */
  stop(): void {
    this.#timer?.cancel();
    this.#write();
  }

  #gather(change: Change): void {
    // A partition that is new, or opened at a start, says nothing that the line of the metadata does not.
    if (change.before === undefined && change.group !== "metadata") return;
    this.#gathered.push(change);
    this.#timer ??= this.#clock.setTimer(GATHER_MS, () => this.#write());
  }

  #write(): void {
    this.#timer = undefined;
    const changes = this.#gathered;
    this.#gathered = [];
    const byLeader = new Map<number, Change[]>();
    for (const change of changes) {
      const led = byLeader.get(change.leader);
      if (change.group === "metadata") this.#writeOne(change);
      else if (led === undefined) byLeader.set(change.leader, [change]);
      else led.push(change);
    }
    for (const [leader, led] of byLeader) this.#writeLed(leader, led);
  }

  #writeLed(leader: number, led: readonly Change[]): void {
    if (led.length <= NAMED_MAX) for (const change of led) this.#writeOne(change);
    else {
      const because = [...new Set(led.map((change) => change.because))].join("; ");
      this.#log.info(`${this.#textOf(leader)} leads ${led.length} partitions now.`, {
        ...{ leader, partitions: led.length, because },
        first: led[0]?.group,
      });
    }
  }

  #writeOne({ group, view, before, leader, because }: Change): void {
    const what = group === "metadata" ? "the metadata" : `partition ${group}`;
    const facts = { group, leader, view, because };
    this.#log.info(
      `${this.#textOf(leader)} leads ${what} now.`,
      before === undefined ? facts : { ...facts, viewBefore: before },
    );
  }

  #textOf(leader: number): string {
    return leader === this.#replica ? `This node, ${leader},` : `Node ${leader}`;
  }
}

function becauseOf(before: number | undefined, { viewCause }: Replica): string {
  return CAUSES[before === undefined ? "started" : (viewCause ?? "peers")];
}
