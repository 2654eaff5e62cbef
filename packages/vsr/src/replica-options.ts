import type { ClientTable } from "./client-table/client-table.ts";
import type { ClusterTiming } from "./cluster-timing.ts";
import type { Mutations } from "./mutations.ts";
import type { Prepare, PrepareFields } from "./prepare.ts";

/**
 * What a replica found in its journal and superblock.
 *
 * The last seven are for groups of several replicas. Their journal tells `commit`: the highest `commit` of
 * any prepare in it, or what a snapshot or an installed state covers.
 */
export interface Recovered {
  readonly view: number;
  readonly logView: number;
  /** Last op of the journal, 0 when it is empty. */
  readonly op: number;
  /** Last op known to be committed. With one replica every journaled op is. */
  readonly commit: number;
  /** Checksum of `op`, 0n when the journal is empty. */
  readonly checksum: bigint;
  /** Checksum of `commit`, 0n for none. Needed when there is a suffix. */
  readonly commitChecksum?: bigint;
  /** Ops `commit + 1` to `op`, at most 127; none by default. */
  readonly suffix?: readonly Prepare[];
  /**
   * The journal may once have held more than it does: a tail that did not verify, writes that were not synced
   * before a loss of power, a wiped directory. True as long as the superblock, see `persist-view`, says so.
   */
  readonly mayHaveLost?: boolean;
  /**
   * The superblock is gone too, as in a wiped directory: `view` and `logView` are 0 and `mayHaveLost` is
   * true. The replica then learns from enough peers below which view it must not act.
   */
  readonly isViewForgotten?: boolean;
  /**
   * The group has just been made and this replica has never spoken in it: it is normal at once, in `view`,
   * with an empty log. False, the default, for everything that was ever started.
   */
  readonly isNew?: boolean;
  /**
   * The journal cannot be read to its end: nothing of it counts. `op` and `commit` are 0, `logView` is 0 and
   * `mayHaveLost` true, as of a wiped directory whose views were kept. The replica takes part in a view when
   * it has a peer's state of this op, or a later one, and what follows it. This op was known to be committed.
   */
  readonly stateNeeded?: number;
}

/** What a replica is made from. */
export interface ReplicaOptions {
  /** This replica's index, 0..replicaCount-1. */
  readonly replica: number;
  readonly replicaCount: number;
  readonly cluster: bigint;
  /**
   * Ops in flight at most while this replica is primary: 1 to `PIPELINE_DEPTH_MAX`, alone to
   * `PIPELINE_ALONE_DEPTH_MAX`.
   */
  readonly prepareQueueDepth: number;
  readonly recovered: Recovered;
  /** The metadata group keeps one; partition groups do not. It stands as of `recovered.commit`. */
  readonly clientTable?: ClientTable;
  /** Checksum of a prepare; pure. See `PrepareFields` for what it covers. */
  readonly checksumOf: (fields: PrepareFields) => bigint;
  /** `CLUSTER_TIMING` by default. */
  readonly timing?: ClusterTiming;
  /** Of jitter and nonces; another one at every start. A u32, 0 by default. */
  readonly seed?: number;
  /** Planted bugs; given by simulators only. */
  readonly mutations?: Mutations;
}
