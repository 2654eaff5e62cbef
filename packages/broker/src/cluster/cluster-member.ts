import { CodedError, ErrorCode } from "@millrace/errors";
import type { Counter, Metrics } from "@millrace/platform";
import type { GroupStanding } from "@millrace/protocol";
import {
  type MetadataJournal,
  openViewLog,
  type PartitionIdentity,
  type Superblock,
  type ViewLog,
} from "@millrace/storage";
import { quorums, type Replica } from "@millrace/vsr";
import type { BrokerOptions } from "../broker-options.ts";
import { GROUP_KIND } from "../consumer-groups/group-kind.ts";
import type { DoubtfulDeletions } from "../metadata-plane/doubtful-deletions.ts";
import { METADATA_PATH } from "../metadata-plane/metadata-path.ts";
import type { ForwardedOp } from "../partition-plane/forwarding/forwarded-op.ts";
import { ForwardedOps } from "../partition-plane/forwarding/forwarded-ops.ts";
import { serveForwardedOp } from "../partition-plane/forwarding/serve-forwarded-op.ts";
import { LocalPartition } from "../partition-plane/local-partition.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";
import type { ReceivedBody } from "../partition-plane/partition-replication.ts";
import { tellRemoved } from "../retention/tell-removed.ts";
import type { Shard } from "../shard.ts";
import { Alignment } from "./alignment.ts";
import { beginFormation } from "./begin-formation.ts";
import { CatchUpPace } from "./catch-up/catch-up-pace.ts";
import { declareGroupMetrics } from "./group-metrics.ts";
import type { GroupPeers } from "./group-peers.ts";
import { GroupStandings } from "./group-standings.ts";
import { Liveness } from "./liveness.ts";
import { MachineRun } from "./machine-run.ts";
import { MajorityExecution } from "./majority-execution.ts";
import { makeRootUser } from "./make-root-user.ts";
import { Peers } from "./peers.ts";
import { SilentGroups } from "./silent-groups.ts";
import { removeStaleIncoming } from "./stale-incoming.ts";
import { stateSourceOf } from "./state-source-of.ts";
import { StateTransfers } from "./state-transfer/state-transfers.ts";
import { startTicks } from "./ticks.ts";
import { UnfitLeader } from "./unfit-leader.ts";
import { noteLossOfClosed } from "./unsynced-losses.ts";
import { type GroupName, ViewLines } from "./view-lines.ts";
import { type LookedAt, WaitingGroups } from "./waiting-groups.ts";

/** Ticks between two looks whether views have begun: 100 ms. */
const TICKS_PER_LOOK = 10;

/** How much longer than for room a client waits until enough nodes have executed a deletion. */
const CONFIRMATION_FACTOR = 5;

/** This broker's part in its cluster: views on disk, the way to the other nodes, the passing of time. */
export class ClusterMember {
  readonly peers: Peers;
  readonly viewLog: ViewLog;
  /** States of groups that lag behind, from and to the other nodes. */
  readonly transfers: StateTransfers;
  /** How fast this node gives others what they lack. */
  readonly pace: CatchUpPace;
  /** Replicas of this node that are silent because they cannot write. */
  readonly silent: SilentGroups;
  /** Groups of which this node lacks what nobody gives. */
  readonly waiting: WaitingGroups;
  /** Operations on partitions that other nodes lead. */
  readonly forwardedOps: ForwardedOps;
  readonly #options: BrokerOptions;
  readonly #superblock: Superblock;
  /** Whether the replica has never spoken, as far as its directory knows. */
  readonly #isSilent: boolean;
  /** How many nodes have executed an op of the metadata. */
  readonly executed: MajorityExecution;
  /** Set while this node recovers, before it hears the others. */
  doubtful: DoubtfulDeletions | undefined;
  #standings: GroupStandings | undefined;
  #askCommits: (heard: (from: number, commit: number) => void) => void = () => {};
  #stops: (() => void)[] = [];
  #partitions: PartitionPlane | undefined;
  readonly #machineRun: MachineRun;
  #isStopped = false;
  #ticks = 0;

  private constructor(
    options: BrokerOptions,
    parts: {
      peers: Peers;
      viewLog: ViewLog;
      machineRun: MachineRun;
      superblock: Superblock;
      transfers: StateTransfers;
      pace: CatchUpPace;
      deniedTransient: Counter;
    },
  ) {
    this.#options = options;
    this.peers = parts.peers;
    this.viewLog = parts.viewLog;
    this.#machineRun = parts.machineRun;
    this.silent = new SilentGroups(options.platform, options.cluster?.wedged);
    this.waiting = new WaitingGroups(options.platform);
    this.transfers = parts.transfers;
    this.pace = parts.pace;
    this.#superblock = parts.superblock;
    const { clock, metrics } = options.platform;
    const forwarded = declareForwardMetrics(metrics);
    const { replica, replicaCount, seed } = this.peers;
    const others = Array.from({ length: replicaCount }, (_, at) => at).filter((at) => at !== replica);
    this.forwardedOps = new ForwardedOps({
      ...{ others, seed, replicationQuorum: quorums(replicaCount).replication },
      ...{ clock, wire: this.peers.opWire(), admissionTimeoutMs: options.config.admissionTimeoutMs },
      metrics: { forwarded, deniedTransient: parts.deniedTransient },
    });
    this.executed = new MajorityExecution({
      ...{ clock, quorum: quorums(replicaCount).viewChange, ask: (heard) => this.#askCommits(heard) },
      timeoutMs: CONFIRMATION_FACTOR * options.config.admissionTimeoutMs,
    });
    this.#isSilent = !parts.superblock.record.hasSpoken;
  }

  /**
   * Takes the part that the options give, if any.
   * @throws CodedError FeatureUnavailable; MetadataDamaged; what the disk answers
   */
  static async join(
    options: BrokerOptions,
    journal: MetadataJournal,
    deniedTransient: Counter,
  ): Promise<ClusterMember | undefined> {
    const { cluster, platform, kernel } = options;
    if (cluster === undefined) return undefined;
    checkAbilities(options);
    const seed = Math.floor(platform.random.fraction() * 2 ** 32);
    const peers = new Peers(cluster, { hash: kernel, log: platform.log, seed });
    const { disk, log } = platform;
    const viewLog = await openViewLog({ disk, path: METADATA_PATH, kernel, log });
    const machineRun = await MachineRun.read(disk, METADATA_PATH, platform.host.bootId);
    const pace = new CatchUpPace(declareGivenMetrics(platform.metrics));
    const transfers = new StateTransfers({
      ...{ clock: platform.clock, log, metrics: platform.metrics, replica: peers.replica, seed, pace },
      send: (to, group, message) => peers.sendState(to, group, message),
    });
    const { superblock } = journal;
    return new ClusterMember(options, {
      ...{ peers, viewLog, machineRun, superblock, transfers, pace, deniedTransient },
    });
  }

  /** See `ReplicationContext`. Before the cluster formed here or took this node in, that is every group. */
  isForgotten({ revision }: PartitionIdentity): boolean {
    const { hasSpoken, forgottenOp } = this.#superblock.record;
    return !hasSpoken || revision <= forgottenOp;
  }

  /** See `ReplicationContext`. */
  get hasLostUnsynced(): boolean {
    return this.#machineRun.isAnother;
  }

  /** See `ReplicationContext`. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** See `ReplicationContext`. */
  peersOf(identity: PartitionIdentity): GroupPeers {
    return this.peers.partitionGroup(identity);
  }

  /** See `ReplicationContext`. */
  async standingsIn(identity: PartitionIdentity): Promise<readonly (GroupStanding | undefined)[]> {
    return (await this.#standings?.inPartition(identity)) ?? [];
  }

  /** Ends the recovery, when all partitions are open. @throws CodedError what the disk answers */
  async clean(shard: Shard): Promise<void> {
    await removeStaleIncoming(shard, this.viewLog);
    if (this.hasLostUnsynced) await noteLossOfClosed(shard, this.viewLog);
    await this.#machineRun.note();
  }

  /** Where the nodes of the cluster stand. */
  standingsOf({ metadata, partitions }: Pick<Shard, "metadata" | "partitions">): GroupStandings {
    const { replica, replicaCount, seed } = this.peers;
    const { clock } = this.#options.platform;
    const wire = this.peers.standingsWire();
    const isWaiting = (group: object) => this.waiting.isTold(group);
    const parts = { clock, wire, replica, replicaCount, seed, metadata, partitions, isWaiting };
    const standings = new GroupStandings(parts);
    this.#standings = standings;
    this.#askCommits = (heard) => {
      metadata.tellCommit();
      standings.askCommits(heard);
    };
    return standings;
  }

  /** Begins to speak: everything is recovered. */
  start(shard: Shard): void {
    const { metadata, partitions, platform } = shard;
    this.#partitions = partitions;
    const liveness = new Liveness(shard, this.peers);
    const { formation, end } = beginFormation(shard, this.peers, this.#isSilent);
    this.#stops.push(end);
    this.peers.listen({
      metadata: (from, message) => metadata.hear({ kind: "message", from, message }),
      partition: (identity, from, message, body) => {
        const handle = partitions.find(identity);
        if (!(handle instanceof LocalPartition) || this.#isDoubtful(metadata, identity)) return;
        handle.group.replication?.receive(from, message, body);
      },
      formation: (from, starts) => formation.onStarts(from, starts),
      forwardedRequest: (from, request) => metadata.forwarded?.onRequest(from, request),
      forwardedAnswer: (from, answer) => metadata.forwarded?.onAnswer(from, answer),
      state: (from, group, message) => this.transfers.receive(from, group, message),
      forwardedOp: (from, identity, op, body) => this.#serve(shard, from, { identity, op, body }),
      forwardedOpAnswer: (from, identity, said) => {
        const handle = partitions.find(identity);
        if (handle instanceof LocalPartition) this.forwardedOps.onAnswer(from, handle.group, said);
      },
      vouch: (from, sessions) => liveness.onVouch(from, sessions),
      standingsRequest: (from, id, range) => shard.standings?.onRequest(from, id, range),
      standings: (from, id, standings) => shard.standings?.onStandings(from, id, standings),
      peerDown: (peer) => {
        metadata.forwarded?.onPeerDown(peer);
        this.forwardedOps.onPeerDown(peer);
        this.transfers.onPeerDown(peer);
        shard.standings?.onPeerDown(peer);
      },
    });
    this.transfers.serve((group) => stateSourceOf(shard, group));
    const lines = this.#viewLines(shard);
    this.#stops.push(
      startTicks(platform.clock, () => this.#tick(shard, lines)),
      liveness.start(),
      new Alignment({
        ...{ clock: platform.clock, random: platform.random, metadata },
        groups: () => groupsOf(partitions),
      }).start(),
      this.#letGoWhenUnfit(shard),
      () => lines.stop(),
      () => shard.standings?.stop(),
    );
    this.#stops.push(makeRootUser(shard, this.#options.rootUser));
  }

  /**
   * Says and hears nothing any more; settles when nothing that others say is written. What is in flight in a
   * partition's group ends too: nobody is heard who could commit it, and metadata ops wait for purges.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.silent.stop();
    this.executed.stop();
    for (const stop of this.#stops.splice(0)) stop();
    this.forwardedOps.stop();
    const groups = this.#partitions === undefined ? [] : [...groupsOf(this.#partitions)];
    await Promise.all(groups.map((group) => group.close(ErrorCode.ShuttingDown)));
    this.pace.stop();
    await this.transfers.stop();
    this.peers.stop();
  }

  /** Lets go of what is open. */
  close(): Promise<void> {
    return this.viewLog.close();
  }

  /** Returns what ends it. */
  #letGoWhenUnfit({ metadata, partitions, standings, platform }: Shard): () => void {
    if (standings === undefined) return () => {};
    const parts = { clock: platform.clock, replica: this.peers.replica, metadata, standings };
    return new UnfitLeader({ ...parts, groups: () => groupsOf(partitions) }).start();
  }

  #viewLines({ metadata, partitions, platform }: Shard): ViewLines {
    const { clock, log, metrics } = platform;
    const counted = declareGroupMetrics(metrics, {
      metadata: () => metadata.replica,
      partitions: () => replicasOf(partitions),
    });
    const changed = ({ group }: GroupName) =>
      (group === "metadata" ? counted.metadataViews : counted.partitionViews).add(1);
    return new ViewLines({ clock, log, replica: this.peers.replica, changed });
  }

  #tick({ metadata, partitions }: Shard, lines: ViewLines): void {
    this.pace.tick();
    metadata.hear({ kind: "tick" });
    this.peers.gathering(() => {
      for (const group of groupsOf(partitions))
        if (!this.#isDoubtful(metadata, group.identity)) group.replication?.tick();
    });
    // A state that was fetched brings ops that nobody applied one by one.
    if (this.forwardedOps.count > 0) {
      for (const group of groupsOf(partitions)) this.forwardedOps.reached(group);
    }
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_LOOK === 0) this.#lookAtViews({ metadata, partitions }, lines);
  }

  #isDoubtful({ replica }: Shard["metadata"], identity: PartitionIdentity): boolean {
    return this.doubtful?.has(identity, replica) === true;
  }

  #lookAtViews({ metadata, partitions }: Pick<Shard, "metadata" | "partitions">, lines: ViewLines): void {
    lines.look(metadata, metadata.replica, () => "metadata");
    this.waiting.look(metadata, this.#lookedAtMetadata(metadata));
    for (const group of groupsOf(partitions)) {
      lines.look(group, group.replica, () => nameOf(group.identity));
      this.waiting.look(group, this.#lookedAt(group));
    }
    this.waiting.tell();
  }

  /** What waits for its cluster to form says so itself. */
  #lookedAtMetadata({ replica, isSilent, mayBecomeNew }: Shard["metadata"]): LookedAt | undefined {
    if (isSilent || mayBecomeNew) return undefined;
    const isFetched = () => this.transfers.isFetching({ kind: "metadata" });
    return { replica, name: () => "metadata", isFetched };
  }

  #lookedAt({ identity, replica, replication }: PartitionGroup): LookedAt | undefined {
    if (replica === undefined || replication?.isStopped === true) return undefined;
    const isFetched = () => this.transfers.isFetching({ kind: "partition", partition: identity });
    return { replica, name: () => nameOf(identity), isFetched };
  }

  /** Does what another node passed on. It hears what is committed first: it waits for that. */
  #serve(
    { partitions, pool, platform, metrics, groups }: Shard,
    from: number,
    { identity, op, body }: { identity: PartitionIdentity; op: ForwardedOp; body: ReceivedBody },
  ): void {
    const handle = partitions.find(identity);
    const partition = handle instanceof LocalPartition ? handle : undefined;
    const wire = this.peers.opWire();
    serveForwardedOp(partition, {
      ...{ op, body, pool },
      isGone: ({ kind, id }) => kind === GROUP_KIND && groups.isGone(identity, id),
      removed: (truncation) =>
        tellRemoved({ log: platform.log, metrics: metrics.retention }, identity, truncation, "request"),
      answer: (answer) => {
        if (answer.kind !== "refused") partition?.group.replication?.tellCommit(from);
        wire.sendOpAnswer(from, identity, { id: op.id, answer });
      },
    });
  }
}

function checkAbilities({ bus }: BrokerOptions): void {
  if (bus === undefined || bus.shardsCount <= 1) return;
  const text =
    'A cluster of several nodes does not work with several shards yet; set sharding.cpu_allocation = "1".';
  throw new CodedError(ErrorCode.FeatureUnavailable, text);
}

function* groupsOf(partitions: PartitionPlane): Iterable<PartitionGroup> {
  for (const handle of partitions.handles()) if (handle instanceof LocalPartition) yield handle.group;
}

function* replicasOf(partitions: PartitionPlane): Iterable<Replica> {
  for (const { replica } of groupsOf(partitions)) if (replica !== undefined) yield replica;
}

function nameOf({ streamId, topicId, partitionId }: PartitionIdentity): string {
  return `${streamId}/${topicId}/${partitionId}`;
}

function declareGivenMetrics(metrics: Metrics): (length: number) => void {
  const text = "Bytes given to nodes that were behind: operations they lacked, and states of groups";
  const given = metrics.counter("replica_catch_up_bytes_given_total", text);
  return (length) => given.add(length);
}

function declareForwardMetrics(metrics: Metrics): Counter {
  const text = "Operations on partitions that were passed on to the node that leads them";
  return metrics.counter("replica_requests_forwarded_total", text);
}
