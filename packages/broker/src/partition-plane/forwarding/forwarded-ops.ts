import { ErrorCode } from "@millrace/errors";
import type { Clock, Counter } from "@millrace/platform";
import { SERVER_CLIENT } from "@millrace/vsr";
import { ForwardedCalls } from "../../cluster/forwarded-calls.ts";
import { type CountOrder, NOTHING_REMOVED, type TruncationOutcome } from "../../retention/truncation.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { BatchOp, ClientOp, OffsetOp, SeenRequest, StoreOffsetOp } from "../partition-handle.ts";
import { ConfirmedLeads, type LeadDone } from "./confirmed-lead.ts";
import { ForwardWindow } from "./forward-window.ts";
import {
  encodeCountOrder,
  encodeOffsetWrite,
  encodePurgeGeneration,
  ForwardedKind,
  type ForwardedOpAnswer,
  type ForwardedOpWire,
} from "./forwarded-op.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Of the 4096 frames that may wait for a node a quarter; of the bytes of its two longest a half. */
const LIMITS = {
  heldAboveCount: 256,
  heldAboveLength: 16 * MIB,
  countMax: 1024,
  lengthMax: 64 * MIB,
};

/**
 * How much longer than for room an operation waits for its answer: it may wait for room there, for a disk,
 * and for the op to come here. A node that is gone is noticed earlier.
 */
const PATIENCE_FACTOR = 5;

/** What forwarding works with. */
export interface ForwardedOpsOptions {
  readonly clock: Clock;
  readonly wire: ForwardedOpWire;
  /** Replica ids of the other nodes. */
  readonly others: readonly number[];
  /** Replicas of a group, this one counted, that have an op when it is committed. */
  readonly replicationQuorum: number;
  /** Milliseconds an operation waits for room before it is refused. */
  readonly admissionTimeoutMs: number;
  /** See `ForwardedCallsOptions`. */
  readonly seed: number;
  readonly metrics: {
    /** Counts what was passed on. */
    readonly forwarded: Counter;
    /** Counts what was answered with 58. */
    readonly deniedTransient: Counter;
  };
}

/** One operation as it is passed on. */
interface Passed {
  readonly kind: ForwardedKind;
  readonly op: Pick<ClientOp, "client" | "request" | "user" | "isNumbered"> &
    Partial<Pick<BatchOp, "session">>;
  readonly body: Uint8Array;
  readonly holder?: BatchOp["holder"] | undefined;
  /** Called once when `body` is not needed any more. */
  onDone?(): void;
  answered(answer: ForwardedOpAnswer): void;
}

const NOTHING = new Uint8Array(0);
const OF_THE_SERVER = { client: SERVER_CLIENT, request: 0n, user: 0, isNumbered: false };

/**
 * Operations of clients on partitions whose group another node leads: passed on to that node, and answered
 * once they took effect here too, so whoever wrote reads on this node what he has written.
 *
 * What is passed on names the view of the group. A primary takes only what is of its own view, so nothing
 * that was passed on before a view change gets its place behind what was written here after it: the order of
 * a connection's writes stays. Where no primary is known the answer is 58; where the answer is lost, 57.
 * @see docs/adr/0052
 */
export class ForwardedOps {
  readonly #options: ForwardedOpsOptions;
  readonly #calls: ForwardedCalls<ForwardedOpAnswer>;
  readonly #window = new ForwardWindow(LIMITS);
  readonly #confirmedLeads: ConfirmedLeads;

  constructor(options: ForwardedOpsOptions) {
    const { clock, others, admissionTimeoutMs, seed } = options;
    this.#options = options;
    this.#calls = new ForwardedCalls({ clock, seed, timeoutMs: PATIENCE_FACTOR * admissionTimeoutMs });
    this.#confirmedLeads = new ConfirmedLeads({
      ...{ clock, others, window: this.#window, quorum: options.replicationQuorum },
      timeoutMs: admissionTimeoutMs,
      ask: (to, group, heard) => this.#askWhetherInView(to, group, heard),
      forget: (call) => this.#calls.forget(call),
    });
  }

  /** Operations on their way. */
  get count(): number {
    return this.#calls.count;
  }

  /** See `PartitionHandle.append`. */
  append(group: PartitionGroup, op: BatchOp): void {
    const { batchLease, holder } = op;
    this.#pass(group, {
      ...{ kind: ForwardedKind.append, op, body: batchLease.bytes, holder },
      onDone: () => batchLease.release(),
      answered: (answer) => answerOp(op, answer),
    });
  }

  /** See `PartitionHandle.storeOffset`. */
  storeOffset(group: PartitionGroup, op: StoreOffsetOp): void {
    const answered = (answer: ForwardedOpAnswer) => answerOp(op, answer);
    this.#pass(group, { kind: ForwardedKind.storeOffset, op, body: encodeOffsetWrite(op), answered });
  }

  /** See `PartitionHandle.storeOffsetForward`. */
  storeOffsetForward(group: PartitionGroup, op: StoreOffsetOp, nothingToMove: () => void): void {
    this.#pass(group, {
      ...{ kind: ForwardedKind.moveOffset, op, body: encodeOffsetWrite(op) },
      answered: (answer) => (answer.kind === "nothing" ? nothingToMove() : answerOp(op, answer)),
    });
  }

  /** See `PartitionHandle.deleteOffset`. */
  deleteOffset(group: PartitionGroup, op: OffsetOp): void {
    const body = encodeOffsetWrite({ ...op, offset: 0n });
    const answered = (answer: ForwardedOpAnswer) => answerOp(op, answer);
    this.#pass(group, { kind: ForwardedKind.deleteOffset, op, body, answered });
  }

  /**
   * Asks the primary whether a request is under way or remembered there.
   * @param done  a code when nobody could tell
   */
  findSeen(group: PartitionGroup, request: SeenRequest, done: (isSeen: boolean | number) => void): void {
    this.#pass(group, {
      ...{ kind: ForwardedKind.findSeen, op: { ...request, isNumbered: true }, body: NOTHING },
      answered: (answer) => done(answer.kind === "refused" ? answer.code : answer.kind === "committed"),
    });
  }

  /** Tells whether this node leads a group now, see `ConfirmedLeads`. */
  confirmLead(group: PartitionGroup, done: LeadDone): void {
    this.#confirmedLeads.confirm(group, (isConfirmed) => {
      if (!isConfirmed) this.#options.metrics.deniedTransient.add(1);
      done(isConfirmed);
    });
  }

  /**
   * Tells the other replicas of a purge that was decided on, which whoever leads the group writes then.
   * @param committed  called when the one that leads it says that it is committed; maybe never
   */
  purge(group: PartitionGroup, generation: number, committed: () => void): void {
    const body = encodePurgeGeneration(generation);
    const op = OF_THE_SERVER;
    const answered = ({ kind }: ForwardedOpAnswer) => {
      if (kind === "nothing") committed();
    };
    for (const to of this.#options.others) {
      if (this.#window.begin(body.length, undefined))
        this.#passTo(to, group, { kind: ForwardedKind.purge, op, body, answered });
    }
  }

  /** See `PartitionHandle.truncate`. The node that does it tells what went. */
  truncate(group: PartitionGroup, order: CountOrder, outcome: TruncationOutcome): void {
    this.#pass(group, {
      ...{ kind: ForwardedKind.truncate, op: OF_THE_SERVER, body: encodeCountOrder(order) },
      answered: (answer) =>
        answer.kind === "refused" ? outcome.failed(answer.code) : outcome.removed(NOTHING_REMOVED),
    });
  }

  /** What another node says to an operation that was passed on to it. */
  onAnswer(
    from: number,
    group: PartitionGroup,
    said: { readonly id: number; readonly answer: ForwardedOpAnswer },
  ): void {
    this.#calls.onAnswer(from, said, { group, op: opOf(said.answer), commit: commitOf(group) });
  }

  /** Ops of a group took effect here. */
  reached(group: PartitionGroup): void {
    this.#calls.reached(group, commitOf(group));
  }

  /** A node is gone, see `ForwardedCalls.onPeerDown`. */
  onPeerDown(peer: number): void {
    this.#calls.onPeerDown(peer);
  }

  /** Everybody who waits hears that nobody knows. */
  stop(): void {
    this.#calls.stop();
  }

  #pass(group: PartitionGroup, passed: Passed): void {
    const { metrics } = this.#options;
    const primary = primaryOf(group);
    const { length } = passed.body;
    if (primary === undefined || !this.#window.begin(length, passed.holder)) {
      metrics.deniedTransient.add(1);
      passed.onDone?.();
      passed.answered({ kind: "refused", code: ErrorCode.TransientNotAccepted });
      return;
    }
    metrics.forwarded.add(1);
    this.#passTo(primary, group, passed);
  }

  /** There is room in the window for it. */
  #passTo(to: number, group: PartitionGroup, passed: Passed): void {
    const { length } = passed.body;
    const end = (answer: ForwardedOpAnswer) => {
      this.#window.end(length);
      passed.answered(answer);
    };
    this.#calls.ask({
      to,
      send: (id) => this.#send(group, { to, id, passed }),
      answered: end,
      failed: (code) => end({ kind: "refused", code }),
    });
  }

  #askWhetherInView(to: number, group: PartitionGroup, heard: LeadDone): number {
    const passed = { kind: ForwardedKind.confirmLead, op: OF_THE_SERVER, body: NOTHING };
    return this.#calls.ask({
      ...{ to, timeoutMs: this.#options.admissionTimeoutMs },
      send: (id) => this.#send(group, { to, id, passed }),
      answered: ({ kind }) => heard(kind === "nothing"),
      failed: () => heard(false),
    });
  }

  #send(
    group: PartitionGroup,
    {
      to,
      id,
      passed,
    }: { readonly to: number; readonly id: number; readonly passed: Omit<Passed, "answered"> },
  ): boolean {
    const { kind, op, body, onDone } = passed;
    const { client, request, user, isNumbered, session = 0 } = op;
    const view = group.replica?.view ?? 0;
    const forwarded = { id, view, kind, client, request, user, isNumbered, session, body };
    return this.#options.wire.sendOp(to, group.identity, forwarded, onDone);
  }
}

/**
 * Another node that leads the group; nothing while a view has not begun here, nor on a silent replica: what
 * is passed on would never take effect here.
 */
function primaryOf({ replica, replication }: PartitionGroup): number | undefined {
  if (replica?.status !== "normal" || replication?.isStopped === true) return undefined;
  return replica.isPrimary ? undefined : replica.primary;
}

function answerOp(op: Pick<ClientOp, "committed" | "failed">, answer: ForwardedOpAnswer): void {
  if (answer.kind === "committed") op.committed(answer.result);
  else op.failed(answer.kind === "refused" ? answer.code : ErrorCode.TransientNotCommitted);
}

/** Up to which op this node has to come before the answer is given. */
function opOf(answer: ForwardedOpAnswer): number {
  if (answer.kind === "committed") return answer.result.op;
  return answer.kind === "nothing" ? answer.op : 0;
}

function commitOf({ partition }: PartitionGroup): number {
  return partition?.committedOp ?? 0;
}
