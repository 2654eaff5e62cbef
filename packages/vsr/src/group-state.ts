import { assert } from "@millrace/errors";
import type { ClientTable } from "./client-table/client-table.ts";
import { CLUSTER_TIMING } from "./cluster-timing.ts";
import type { DoViewChange } from "./messages/do-view-change.ts";
import type { Mutations } from "./mutations.ts";
import type { Output } from "./output.ts";
import { PIPELINE_DEPTH_MAX, Pipeline } from "./pipeline.ts";
import type { PrepareFields } from "./prepare.ts";
import { type Quorums, quorums } from "./quorums.ts";
import { Random } from "./random.ts";
import { Repair } from "./repair/repair.ts";
import type { Recovered, ReplicaOptions } from "./replica-options.ts";
import { Timers } from "./timers.ts";

/**
 * What a replica is doing.
 *
 * `recovering`: it was restarted, or a view began without it, and its log is not yet known to be that of the
 * view. Only a normal replica acknowledges and only a normal primary takes requests.
 */
export type ReplicaStatus = "normal" | "view-change" | "recovering";

/**
 * Why a replica left a view. `primary-silent`: nothing was heard of the primary, or it has not committed
 * what waits, or a view did not begin in time; `no-primary`: after a restart nobody answered;
 * `handed-over`: a primary let a backup lead that asked for it; `peers`: others did.
 */
export type ViewCause = "primary-silent" | "no-primary" | "handed-over" | "peers";

/** What a step that changes nothing answers; one array, so that it costs nothing. */
export const NO_OUTPUTS: readonly Output[] = Object.freeze([]);

const NO_MUTATIONS: Mutations = Object.freeze({});
/** A group of one waits for nothing; partitions are many, so all of them share these. */
const NO_TIMERS = new Timers(CLUSTER_TIMING, new Random(0));
/** Nor does it ever write to this. */
const NO_REPAIR = new Repair();

/**
 * Everything one replica knows about its group. The phases in `normal/`, `view-change/`, `recovery/` and
 * `repair/` read and change it; nobody else does.
 */
export class GroupState {
  readonly replica: number;
  readonly replicaCount: number;
  readonly quorums: Quorums;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  readonly pipeline: Pipeline;
  readonly timers: Timers;
  readonly mutations: Mutations;
  /** Names this start of the replica. */
  readonly nonce: number;
  clientTable: ClientTable | undefined;
  status: ReplicaStatus = "normal";
  view: number;
  /** Last view whose log this replica held in full. */
  logView: number;
  /** View of the superblock. */
  viewPersisted: number;
  /** The journal may once have held more: this replica gives no nacks. */
  mayHaveLost: boolean;
  /** Highest op this replica has numbered or accepted. */
  op: number;
  /** Checksum of `op`. */
  lastChecksum: bigint;
  /** Highest op this replica has committed. */
  commit: number;
  /** Checksum of `commit`. */
  commitChecksum: bigint;
  /** Highest op known to be committed anywhere; above `commit` while ops are missing. */
  commitKnown: number;
  /** Highest op of this replica's log that is known to be in the log of the view. */
  verified: number;
  /** Ticks since the start. */
  ticks = 0;

  /** Asks its peers for the next view. */
  isAsking = false;
  /** Why it asks, or asked last. */
  askCause: ViewCause = "primary-silent";
  viewCause: ViewCause | undefined = undefined;
  /** Tick from which on this backup may ask its primary to let it lead. */
  mayAskToLeadFrom = 0;
  /** It has asked, and may be let until this tick. */
  asksToLeadUntil = 0;
  /** The backup to which this primary hands over, and the tick at which it gives that up. */
  yieldsTo: number | undefined = undefined;
  yieldsUntil = 0;
  /** Bit r is set when replica r asks for the view after this one. */
  askers = 0;
  /** By replica, for this view; only its primary collects them. */
  doViewChanges: (DoViewChange | undefined)[] = [];
  /** Restarted, and nobody has told it the current view: it takes no part. */
  isProbing = false;
  probesSent = 0;
  /** Bit r is set when replica r has asked for the log of the view while this one did: it leads nothing. */
  probers = 0;
  /** The superblock is gone: views below those of enough peers may be ones that this replica left. */
  isViewForgotten: boolean;
  /** Bit r is set when replica r has told its view. */
  viewsHeard = 0;
  /** Last view that this replica may have been in before it was started. */
  viewBefore: number;
  /** Op that was known to be committed here before the journal was lost; 0 when it was not. */
  readonly committedBefore: number;
  /** End of the log that must be complete here before this replica is normal in the view, once known. */
  target: number | undefined = undefined;
  /** The log is complete, the superblock is being told. */
  isPromoted = false;
  /** Commit number at the primary's last tick. */
  commitAtTick: number;
  /** By replica: the highest op that it asked this primary for in this view. */
  caughtUpTo: number[] = [];
  readonly repair: Repair;
  readonly #queueDepth: number;

  constructor(options: ReplicaOptions) {
    const { recovered, replicaCount } = options;
    this.replica = options.replica;
    this.replicaCount = replicaCount;
    this.quorums = quorums(replicaCount);
    this.clientTable = options.clientTable;
    this.checksumOf = options.checksumOf;
    this.mutations = options.mutations ?? NO_MUTATIONS;
    this.repair = replicaCount === 1 ? NO_REPAIR : new Repair();
    const random = replicaCount === 1 ? undefined : new Random(options.seed ?? 0);
    this.nonce = random?.nonce() ?? 0;
    this.timers = random === undefined ? NO_TIMERS : new Timers(options.timing ?? CLUSTER_TIMING, random);
    this.view = recovered.view;
    this.viewPersisted = recovered.view;
    this.viewBefore = recovered.view;
    this.logView = this.mutations.forgetLogView === true ? 0 : recovered.logView;
    this.mayHaveLost = recovered.mayHaveLost ?? false;
    this.isViewForgotten = recovered.isViewForgotten ?? false;
    this.committedBefore = recovered.stateNeeded ?? 0;
    this.op = recovered.op;
    this.lastChecksum = recovered.checksum;
    this.commit = replicaCount === 1 ? recovered.op : recovered.commit;
    this.commitChecksum = this.commit === this.op ? recovered.checksum : (recovered.commitChecksum ?? 0n);
    this.commitKnown = this.commit;
    this.commitAtTick = this.commit;
    this.verified = this.commit;
    this.#queueDepth = options.prepareQueueDepth;
    // What others have in flight must fit, whatever depth they were configured with.
    const depth = replicaCount === 1 ? options.prepareQueueDepth : PIPELINE_DEPTH_MAX;
    this.pipeline = new Pipeline(depth, this.commit);
    if (replicaCount > 1) this.#recover(recovered);
  }

  /** Primary of view v is replica v mod n. */
  get primary(): number {
    return this.view % this.replicaCount;
  }

  /** Acts as the primary: the view has begun and is its own. */
  get isPrimary(): boolean {
    return this.status === "normal" && this.view % this.replicaCount === this.replica;
  }

  /**
   * It may have been normal in its view before it lost ops: the log of that view may hold what it
   * acknowledged, or numbered, and has no more, whatever its log view says now.
   */
  get mayHaveBeenInView(): boolean {
    return this.mayHaveLost && this.view <= this.viewBefore;
  }

  /**
   * Requests that fit: a primary has no more ops in flight than it was configured for, and takes none while
   * it hands over.
   */
  get requestsFree(): number {
    if (this.yieldsTo !== undefined) return 0;
    return Math.max(0, this.#queueDepth - this.pipeline.count);
  }

  #recover(recovered: Recovered): void {
    const { timing, patience, commitBroadcast, prepareRetransmit, requestStartView } = this.timers;
    for (const prepare of recovered.suffix ?? []) {
      this.pipeline.push(prepare);
      const pending = this.pipeline.get(prepare.op);
      if (pending !== undefined) pending.written = true;
    }
    assert(this.op - this.commit === (recovered.suffix?.length ?? 0), "the suffix is all above the commit");
    if (recovered.isNew === true) {
      assert(this.op === 0, "a new group has an empty log");
      patience.start(0, timing.heartbeatTimeout);
      this.mayAskToLeadFrom = timing.heartbeatTimeout;
      commitBroadcast.start(0, timing.commitBroadcastInterval);
      prepareRetransmit.start(0, timing.prepareRetransmitInterval);
      return;
    }
    const { stateNeeded } = recovered;
    if (stateNeeded !== undefined) {
      assert(this.op === 0 && this.logView === 0 && this.mayHaveLost, "who needs a state claims nothing");
      this.repair.stateAwaited = Math.max(1, stateNeeded);
    }
    this.status = "recovering";
    this.isProbing = true;
    requestStartView.start(0, 1);
  }
}
