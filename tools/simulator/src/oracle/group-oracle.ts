import { PIPELINE_DEPTH_MAX, type Prepare, type Quorums, quorums, SessionOperation } from "@millrace/vsr";
import { AppendLog, EMPTY_LOG, type LogSnapshot, requestName } from "../node/append-log.ts";
import { type AppendBody, Operation } from "../node/operation.ts";
import type { GroupPlan } from "../seed-plan.ts";
import { Violation } from "./violation.ts";

/** What one replica shows of itself after a step. */
export interface ReplicaView {
  readonly view: number;
  readonly logView: number;
  readonly op: number;
  readonly commit: number;
}

/** A read as its client sees it: the log's length, and one message of it. */
export interface ReadResult {
  readonly nextOffset: number;
  readonly offset: number;
  readonly message: number | undefined;
}

interface CommittedOp {
  readonly prepare: Prepare;
  readonly offset: number;
  /** Length of the log once it is applied. */
  readonly nextOffset: number;
}

/**
 * Judges one group from outside: keeps the one log that all replicas must agree on, and holds every commit,
 * answer and read against it.
 *
 * The first replica to apply an op decides what it is; whatever differs from that later is a violation.
 */
export class GroupOracle {
  readonly #name: string;
  readonly #hasRules: boolean;
  readonly #replicaCount: number;
  readonly #quorums: Quorums;
  readonly #depth: number;
  readonly #hasClientTable: boolean;
  readonly #log = new AppendLog(EMPTY_LOG);
  readonly #committed: CommittedOp[] = [];
  /** Replicas that ever had a prepare in their journal, by checksum. */
  readonly #holders = new Map<bigint, number>();
  /** Checksum of what each view numbered, by "view:op". */
  readonly #numbered = new Map<string, bigint>();
  /** Op of each client's latest Register and Logout. */
  readonly #registers = new Map<bigint, number>();
  readonly #logouts = new Map<bigint, number>();
  readonly #executed = new Map<string, number>();
  readonly #begun = new Set<number>();
  /** Highest view each replica has spoken in, over all its lives. */
  readonly #spoken: number[] = [];
  readonly #replicas: (ReplicaView | undefined)[] = [];

  /** @param hasRules  whether it also looks at how a commit came about: quorums, and one content per view */
  constructor(replicaCount: number, { group, depth, hasClientTable }: GroupPlan, hasRules = true) {
    this.#hasRules = hasRules;
    this.#name = `group ${group}`;
    this.#replicaCount = replicaCount;
    this.#quorums = quorums(replicaCount);
    this.#depth = depth;
    this.#hasClientTable = hasClientTable;
  }

  /** Highest op that any replica has committed. */
  get op(): number {
    return this.#committed.length;
  }

  /** Messages in the log. */
  get nextOffset(): number {
    return this.#log.nextOffset;
  }

  /** A replica starts: what its disk did not hold is gone, so its numbers may be lower than before. */
  onStart(replica: number, now: ReplicaView): void {
    this.#replicas[replica] = now;
  }

  /** A primary says that its view has begun. True the first time. */
  onBegun(view: number): boolean {
    const isFirst = !this.#begun.has(view);
    this.#begun.add(view);
    return isFirst;
  }

  /** A replica lost its whole directory, and with it what it has said. */
  onWiped(replica: number): void {
    this.#spoken[replica] = 0;
  }

  /** A replica speaks as a member of a view; never again of an earlier one. @throws Violation backwards */
  onSpoken(replica: number, view: number): void {
    const before = this.#spoken[replica] ?? 0;
    if (view < before) this.#fail("backwards", `replica ${replica} speaks in view ${view} after ${before}`);
    this.#spoken[replica] = view;
  }

  /** Holds a replica's numbers against those of its last step. @throws Violation backwards, bound */
  onStep(replica: number, now: ReplicaView): void {
    const before = this.#replicas[replica];
    this.#replicas[replica] = now;
    if (now.op - now.commit > PIPELINE_DEPTH_MAX) {
      this.#fail("bound", `replica ${replica} has ops ${now.commit + 1}..${now.op} in its pipeline`);
    }
    if (now.commit > this.op) this.#fail("lost", `replica ${replica} commits op ${now.commit} unseen`);
    if (before === undefined) return;
    if (now.view < before.view || now.logView < before.logView || now.commit < before.commit) {
      const [was, is] = [lineOf(before), lineOf(now)];
      this.#fail("backwards", `replica ${replica} goes from ${was} to ${is}`);
    }
  }

  /** A primary has numbered a request: it has no more in flight than it may. @throws Violation bound */
  onNumbered(replica: number, op: number, commit: number): void {
    if (op - commit <= this.#depth) return;
    this.#fail("bound", `replica ${replica} numbers op ${op} while ops from ${commit + 1} are in flight`);
  }

  /**
   * A replica journals a prepare: a view gives each op one content only. One replica alone never changes its
   * view and may number an op again that no journal holds. @throws Violation two-primaries
   */
  onAccepted(replica: number, { view, op, checksum }: Prepare): void {
    if (this.#replicaCount === 1 || !this.#hasRules) return;
    const key = `${view}:${op}`;
    const known = this.#numbered.get(key);
    if (known !== undefined && known !== checksum) {
      this.#fail("two-primaries", `view ${view} has two ops ${op}; replica ${replica} takes the other one`);
    }
    this.#numbered.set(key, checksum);
  }

  /** A replica's journal holds a prepare, so that its prepareOk may count. */
  onWritten(replica: number, checksum: bigint): void {
    this.#holders.set(checksum, (this.#holders.get(checksum) ?? 0) | (1 << replica));
  }

  /** A replica commits an op and has it applied. @throws Violation diverged, quorum, lost, twice */
  onCommitted(replica: number, prepare: Prepare): void {
    const { op, checksum } = prepare;
    const known = this.#committed[op - 1] ?? this.#commit(replica, prepare);
    if (known.prepare.checksum === checksum) return;
    const [one, other] = [prepareLine(known.prepare), prepareLine(prepare)];
    this.#fail("diverged", `op ${op} is ${one}, and replica ${replica} commits ${other}`);
  }

  /** A start goes through an op that was committed before. @throws Violation diverged, lost */
  onReplayed(replica: number, prepare: Prepare): void {
    if (prepare.op > this.op && this.#replicaCount > 1) {
      this.#fail("lost", `replica ${replica} starts with op ${prepare.op}, which nobody committed`);
    }
    this.onCommitted(replica, prepare);
  }

  /** A replica has applied a committed op and found `offset` for it. @throws Violation offset */
  onApplied(replica: number, op: number, offset: number): void {
    const known = this.#committed[op - 1];
    if (known?.offset !== offset) {
      this.#fail("offset", `replica ${replica} gives op ${op} offset ${offset}, others ${known?.offset}`);
    }
  }

  /** A replica goes on from a peer's state. @throws Violation diverged, offset */
  onInstalled(replica: number, snapshot: LogSnapshot): void {
    const known = this.#committed[snapshot.op - 1];
    if (known?.prepare.checksum !== snapshot.checksum) {
      this.#fail(
        "diverged",
        `replica ${replica} installs a state at op ${snapshot.op} that is not the log's`,
      );
    }
    if (known.nextOffset !== snapshot.nextOffset) {
      this.#fail(
        "offset",
        `replica ${replica} installs ${snapshot.nextOffset} messages at op ${snapshot.op}`,
      );
    }
  }

  /** A client hears that a request is done. @throws Violation lost, offset */
  onAnswer(client: bigint, request: bigint, message: number, offset: number): void {
    const found = this.#log.messageAt(offset);
    if (found === message) return;
    const name = `request ${request} of client ${client}`;
    const kind = this.#executed.has(requestName(client, request)) ? "offset" : "lost";
    this.#fail(kind, `${name} is confirmed at offset ${offset}, where ${found ?? "nothing"} is`);
  }

  /**
   * A client hears that its session is over. Only its own Logout or a later Register of its own may be why:
   * the group never forgets a session that it confirmed. @throws Violation lost
   */
  onEvicted(client: bigint, session: number, reason: number): void {
    const ended = (reason === 1 ? this.#logouts : this.#registers).get(client) ?? 0;
    if ((reason === 1 || reason === 7) && ended > session) return;
    this.#fail("lost", `client ${client} has session ${session}, and is evicted for reason ${reason}`);
  }

  /** A client has read. @throws Violation stale-read, offset */
  onRead(read: ReadResult, ownEnd: number): void {
    if (read.nextOffset < ownEnd) {
      this.#fail("stale-read", `a read ends at ${read.nextOffset}, its client has written up to ${ownEnd}`);
    }
    const known = this.#log.messageAt(read.offset);
    if (read.message !== known) {
      this.#fail("offset", `offset ${read.offset} reads ${read.message}, where ${known} is`);
    }
  }

  /** At the end a replica's whole log is compared. @throws Violation diverged */
  onEnd(replica: number, snapshot: LogSnapshot): void {
    for (let offset = 0; offset < Math.max(snapshot.nextOffset, this.nextOffset); offset += 1) {
      const [found, due] = [snapshot.messages[offset], this.#log.messageAt(offset)];
      if (found === due) continue;
      this.#fail("diverged", `at the end replica ${replica} has ${found} at offset ${offset}, not ${due}`);
    }
  }

  #commit(replica: number, prepare: Prepare): CommittedOp {
    const { op, parent, checksum } = prepare;
    const last = this.#committed.at(-1)?.prepare;
    if (op !== this.op + 1) this.#fail("lost", `replica ${replica} commits op ${op} after op ${this.op}`);
    if (parent !== (last?.checksum ?? 0n)) {
      this.#fail("diverged", `op ${op}, applied by replica ${replica}, does not follow op ${op - 1}`);
    }
    const holders = bitCount(this.#holders.get(checksum) ?? 0);
    if (this.#hasRules && holders < this.#quorums.replication) {
      this.#fail("quorum", `replica ${replica} commits op ${op}, which ${holders} journals have held`);
    }
    this.#execute(prepare);
    const offset = this.#log.apply(prepare);
    const committed = { prepare, offset, nextOffset: this.#log.nextOffset };
    this.#committed.push(committed);
    return committed;
  }

  #execute({ client, request, op, operation }: Prepare): void {
    if (operation === SessionOperation.register) this.#registers.set(client, op);
    if (operation === SessionOperation.logout) this.#logouts.set(client, op);
    if (operation !== Operation.append) return;
    const name = requestName(client, request);
    const before = this.#executed.get(name);
    if (before !== undefined && this.#hasClientTable) {
      this.#fail("twice", `request ${request} of client ${client} is op ${before} and op ${op}`);
    }
    this.#executed.set(name, op);
  }

  #fail(kind: Violation["kind"], message: string): never {
    throw new Violation(kind, `${this.#name}: ${message}`);
  }
}

function lineOf({ view, logView, op, commit }: ReplicaView): string {
  return `view ${view}, log view ${logView}, op ${op}, commit ${commit}`;
}

function prepareLine({ view, client, request, body, checksum }: Prepare): string {
  const message = (body as AppendBody | undefined)?.message;
  return `message ${message} (view ${view}, client ${client}, request ${request}, checksum ${checksum})`;
}

function bitCount(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
