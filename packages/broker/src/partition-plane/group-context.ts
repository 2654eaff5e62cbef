import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Clock, Counter, Log } from "@millrace/platform";
import type { GroupStanding } from "@millrace/protocol";
import type { BatchCipher, Partition, PartitionIdentity, ViewLog } from "@millrace/storage";
import type { PrepareFields } from "@millrace/vsr";
import type { CatchUpPace } from "../cluster/catch-up/catch-up-pace.ts";
import type { GroupPeers } from "../cluster/group-peers.ts";
import type { SilentGroups } from "../cluster/silent-groups.ts";
import type { FetchProgress, StateWish } from "../cluster/state-transfer/state-fetcher.ts";
import type { EarlyPrepares } from "./early-prepares.ts";
import type { ForwardedOps } from "./forwarding/forwarded-ops.ts";
import type { PartitionGroup } from "./partition-group.ts";

/** What the partition groups of one node of a cluster share. */
export interface ReplicationContext {
  readonly viewLog: ViewLog;
  /** True during a start that may have found less than was written before: see `MachineRun`. */
  readonly hasLostUnsynced: boolean;
  /** Passes operations on to the nodes that lead their groups. */
  readonly forwardedOps: ForwardedOps;
  /** What came for groups that are being opened. */
  readonly early: EarlyPrepares;
  /** How fast nodes that are behind get what they lack. */
  readonly pace: CatchUpPace;
  /** True for a group in which this replica may have spoken before its directory was lost. */
  isForgotten(identity: PartitionIdentity): boolean;
  /** Hears of replicas that are silent because they cannot write. */
  readonly silent: SilentGroups;
  /** The node stops: nobody says or hears anything any more. */
  readonly isStopped: boolean;
  /** The replicas of a partition's group on the other nodes. */
  peersOf(identity: PartitionIdentity): GroupPeers;
  /**
   * Takes every op above `op` out of a group's files: closes the partition, cuts, opens it anew and hands it
   * to `reopened` of the group. Rejects when the disk refuses.
   */
  cut(group: PartitionGroup, op: number): Promise<void>;
  /**
   * Closes a group's partition and opens it as at a start; calls back before its replica begins anew. Rejects
   * when the disk refuses.
   * @param how.needsState  nothing of its journal counts: a peer's state is to replace it
   */
  restart(group: PartitionGroup, begins: () => void, how?: { readonly needsState: boolean }): Promise<void>;
  /** Where each node stands in a partition's group, by replica id; nothing for one that does not answer. */
  standingsIn(identity: PartitionIdentity): Promise<readonly (GroupStanding | undefined)[]>;
  /** Fetches a group's state from another node, unless it does already; ends in `install` of the group. */
  fetchState(group: PartitionGroup, wish: Pick<StateWish, "from" | "op">): void;
  /** How far it has got with that. */
  fetchProgress(group: PartitionGroup): FetchProgress;
  /** A group's state is not wanted any more. */
  cancelFetch(group: PartitionGroup): void;
  /**
   * Closes a group's partition, puts the fetched files in the place of its own and opens them. Rejects when
   * the disk refuses.
   */
  replace(group: PartitionGroup): Promise<Partition>;
}

/** What every partition group of a broker shares. */
export interface GroupContext {
  readonly clock: Clock;
  readonly log: Log;
  /** Counts requests answered with 58: no room in time, or not open yet. */
  readonly deniedTransient: Counter;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  /** Operations between prepare and commit, see `ReplicaOptions`. */
  readonly prepareQueueDepth: number;
  /** Milliseconds an operation waits for room before it is refused with 58. */
  readonly admissionTimeoutMs: number;
  /** Called when an op took effect: what the partition holds may be something else now. */
  readonly onApplied: ((group: PartitionGroup) => void) | undefined;
  /** What groups of several replicas need besides; absent where there is one. */
  readonly replication: ReplicationContext | undefined;
  /** Makes the stored form of batches; absent when the data directory is not encrypted. */
  readonly batchCipher: BatchCipher | undefined;
}
