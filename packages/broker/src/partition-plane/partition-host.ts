import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import {
  type Cipher,
  type Clock,
  type Counter,
  clockOfEvents,
  type Log,
  type Platform,
} from "@millrace/platform";
import type { RepairPartitionReply } from "@millrace/protocol";
import {
  BatchCipher,
  cutPartition,
  deletePartitionFiles,
  IncomingState,
  installIncoming,
  openPartition,
  type Partition,
  type PartitionIdentity,
  type PartitionOptions,
  type RepairedOffsets,
  TailCache,
} from "@millrace/storage";
import { PIPELINE_DEPTH_MAX } from "@millrace/vsr";
import type { BrokerConfig } from "../broker-config.ts";
import type { StateTransfers } from "../cluster/state-transfer/state-transfers.ts";
import { createPrepareChecksum } from "../consensus/prepare-checksum.ts";
import { Fifo } from "../queues/fifo.ts";
import { EarlyPrepares } from "./early-prepares.ts";
import type { ForwardedOps } from "./forwarding/forwarded-ops.ts";
import type { GroupContext, ReplicationContext } from "./group-context.ts";
import { GroupRecovery } from "./group-recovery.ts";
import { IncomingPartition } from "./incoming-partition.ts";
import { mayOpenLater, OpenRetries } from "./open-retries.ts";
import { Refetch } from "./operations/refetch.ts";
import { PartitionGroup } from "./partition-group.ts";
import { incomingPath, partitionPath } from "./partition-path.ts";
import { isSynced, type PartitionSettings } from "./partition-settings.ts";

/** What partitions on a node of a cluster are hosted with besides. */
export type ReplicatedPartitions = Pick<
  ReplicationContext,
  | "viewLog"
  | "hasLostUnsynced"
  | "isForgotten"
  | "isStopped"
  | "peersOf"
  | "silent"
  | "forwardedOps"
  | "pace"
  | "standingsIn"
> & { readonly transfers: StateTransfers };

/** What a shard's partitions are hosted with. */
export interface PartitionHostOptions {
  readonly platform: Platform;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly config: BrokerConfig;
  /** Encrypts messages in the data directory; absent, they are stored as they are sent. */
  readonly cipher?: Cipher | undefined;
}

/** Above it there is none. */
const EVERY_OP = Number.MAX_SAFE_INTEGER;

/** What is special about the opening of a group. */
export interface OpenHow {
  readonly repair?: RepairedOffsets;
  readonly bornInView?: number | undefined;
  /** Nothing of what is found counts: the replica waits for another one's state. */
  readonly needsState?: boolean;
}

/** The partitions a shard owns: their groups, their files, the memory of their tails. */
export class PartitionHost {
  readonly #options: PartitionHostOptions;
  readonly #context: GroupContext;
  /** With the settings each was opened with last. */
  readonly #groups = new Map<PartitionGroup, PartitionSettings | undefined>();
  readonly #tailCache: TailCache;
  readonly #removals = new Set<Promise<void>>();
  /** Repairs under way: a stop closes what they open. */
  readonly #reopenings = new Set<Promise<void>>();
  readonly #waitingToOpen = new Fifo<() => void>();
  readonly #retries: OpenRetries;
  /** Other replicas' states on their way into groups. */
  readonly #incoming = new Map<PartitionGroup, IncomingState>();
  readonly #refetches = new WeakMap<PartitionGroup, Refetch>();
  #openingCount = 0;

  /**
   * @param told.deniedTransient  counts what is answered with 58 because there was no room in time
   * @param told.onApplied        called when an op of a group took effect
   * @param replicated            given on a node of a cluster
   */
  constructor(
    options: PartitionHostOptions,
    told: { readonly deniedTransient: Counter; readonly onApplied?: (group: PartitionGroup) => void },
    replicated?: ReplicatedPartitions,
  ) {
    const { platform, kernel, pool, config, cipher } = options;
    this.#options = options;
    this.#tailCache = new TailCache({ lengthMax: config.tailCacheLengthMax });
    this.#retries = new OpenRetries(platform);
    const forwarded = replicated?.forwardedOps;
    this.#context = {
      clock: clockOfEvents(platform.clock),
      log: platform.log,
      deniedTransient: told.deniedTransient,
      onApplied: told.onApplied ?? (forwarded && ((group) => forwarded.reached(group))),
      kernel,
      pool,
      checksumOf: createPrepareChecksum(kernel),
      prepareQueueDepth: depthOf(config, replicated),
      admissionTimeoutMs: config.admissionTimeoutMs,
      batchCipher: cipher && new BatchCipher({ cipher, kernel, pool }),
      replication: replicated && {
        viewLog: replicated.viewLog,
        get hasLostUnsynced() {
          return replicated.hasLostUnsynced;
        },
        silent: replicated.silent,
        pace: replicated.pace,
        early: new EarlyPrepares(),
        get isStopped() {
          return replicated.isStopped;
        },
        forwardedOps: replicated.forwardedOps,
        isForgotten: (identity) => replicated.isForgotten(identity),
        peersOf: (identity) => replicated.peersOf(identity),
        cut: (group, op) => this.#cut(group, op),
        restart: (group, begins, how) => this.#restart(group, begins, how),
        standingsIn: (identity) => replicated.standingsIn(identity),
        replace: (group) => this.#replace(group),
        fetchProgress: ({ identity }) =>
          replicated.transfers.progressOf({ kind: "partition", partition: identity }),
        cancelFetch: (group) => {
          replicated.transfers.cancel({ kind: "partition", partition: group.identity });
          this.#dropIncoming(group);
        },
        fetchState: (group, { from, op }) => {
          const address = { kind: "partition", partition: group.identity } as const;
          replicated.transfers.fetch({ group: address, from, op, sink: () => this.#incomingOf(group) });
        },
      },
    };
  }

  get log(): Log {
    return this.#options.platform.log;
  }

  get clock(): Clock {
    return this.#options.platform.clock;
  }

  /** Milliseconds an operation waits for room before it is refused with 58. */
  get admissionTimeoutMs(): number {
    return this.#options.config.admissionTimeoutMs;
  }

  /** Stored consumer offsets per partition and kind. */
  get consumerOffsetsMax(): number {
    return this.#options.config.consumerOffsetsMax;
  }

  /** Passes on what is asked of a partition that another node leads; absent where there is no other. */
  get forwardedOps(): ForwardedOps | undefined {
    return this.#context.replication?.forwardedOps;
  }

  /** Makes the group of a partition; what is asked of it waits until it is opened. */
  add(identity: PartitionIdentity): PartitionGroup {
    const group = new PartitionGroup(identity, this.#context);
    this.#groups.set(group, undefined);
    return group;
  }

  /**
   * Opens a group's files. Settles when it can be used or has failed to open; what the disk refused is tried
   * again later, see `OpenRetries`.
   * @param how.repair    given: damage is left behind
   * @param how.bornInView  given: the group has just been made, in this view of the metadata group
   */
  async open(group: PartitionGroup, settings: PartitionSettings, how: OpenHow = {}): Promise<void> {
    await this.#turnToOpen();
    try {
      if (this.#groups.has(group)) this.#groups.set(group, settings);
      const { partition, recovered } = await this.#openRecovered(group, settings, how);
      group.opened(partition, recovered);
      this.#tryLater(group, how, partition.isHalfOpen);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.log.error("A partition could not be opened.", {
        ...group.identity,
        code: error.code,
        reason: error.message,
      });
      group.opened(new CodedError(error.code, error.message, { details: error.details, cause: error }));
      this.#tryLater(group, how, mayOpenLater(error));
    } finally {
      this.#openingCount -= 1;
      this.#waitingToOpen.shift()?.();
    }
  }

  async #openRecovered(group: PartitionGroup, settings: PartitionSettings, how: OpenHow) {
    const { replication } = this.#context;
    const { disk } = this.#options.platform;
    const { identity } = group;
    const recovery = replication && new GroupRecovery(this.#context, { replication, identity, disk });
    await recovery?.prepare({ ...how, isSynced: isSynced(settings) });
    const partition = await this.#openFiles(group, settings, {
      repair: how.repair,
      onSegmentGone: recovery && (() => recovery.noteSegmentGone()),
      // Another's state takes the place of it all: until then the files stay as they are found.
      isLossKnown: how.needsState !== true && recovery?.isLossKnown === true,
    });
    try {
      return { partition, recovered: await recovery?.recover(partition, how.needsState) };
    } catch (error) {
      await partition.close().catch(() => undefined);
      throw error;
    }
  }

  /** A repair that was asked for was answered by then and is not done later. */
  #tryLater(group: PartitionGroup, { bornInView }: OpenHow, isTried: boolean): void {
    const settings = this.#groups.get(group);
    if (!isTried || settings === undefined) {
      this.#retries.forget(group);
      return;
    }
    this.#retries.noteFailed(group, async () => {
      if (group.partition !== undefined && group.replication !== undefined) {
        await group.replication.beginAnew();
        return;
      }
      await group.takeOut()?.close();
      await this.open(group, settings, { bornInView });
      this.#context.onApplied?.(group);
    });
  }

  #openFiles(
    { identity }: PartitionGroup,
    settings: PartitionSettings,
    found: Pick<PartitionOptions, "repair" | "onSegmentGone" | "isLossKnown"> = {},
  ): Promise<Partition> {
    return openPartition({ ...this.#optionsOf(identity, settings), ...found });
  }

  /** See `ReplicationContext.cut`. */
  async #cut(group: PartitionGroup, op: number): Promise<void> {
    await group.takeOutAbove(op)?.close();
    const { disk, log } = this.#options.platform;
    const { identity } = group;
    const path = partitionPath(identity);
    await cutPartition({ disk, path, identity, kernel: this.#options.kernel, log }, op);
    group.reopened(await this.#openFiles(group, this.#settingsOf(group)));
  }

  /** See `ReplicationContext.replace`. */
  async #replace(group: PartitionGroup): Promise<Partition> {
    await group.takeOutAbove(EVERY_OP)?.close();
    const { identity } = group;
    const { disk } = this.#options.platform;
    await installIncoming(disk, { from: incomingPath(identity), to: partitionPath(identity) });
    return this.#openFiles(group, this.#settingsOf(group));
  }

  #incomingOf(group: PartitionGroup): IncomingPartition {
    const path = incomingPath(group.identity);
    const files = this.#incoming.get(group) ?? new IncomingState(this.#options.platform.disk, path);
    this.#incoming.set(group, files);
    return new IncomingPartition(group, this.#optionsOf(group.identity, this.#settingsOf(group)), files);
  }

  /** What came of a state before its transfer broke off is of no use any more. */
  #dropIncoming(group: PartitionGroup): void {
    const files = this.#incoming.get(group);
    this.#incoming.delete(group);
    if (files?.isKept === true) this.#inBackground(files.discard().catch(() => undefined));
  }

  #settingsOf(group: PartitionGroup): PartitionSettings {
    const settings = this.#groups.get(group);
    assert(settings !== undefined, "files of a group are changed once it was opened");
    return settings;
  }

  /** See `ReplicationContext.restart`. */
  async #restart(group: PartitionGroup, begins: () => void, how: OpenHow = {}): Promise<void> {
    const settings = this.#groups.get(group);
    assert(settings !== undefined, "only a group that was opened is opened anew");
    await group.takeOut()?.close();
    begins();
    await this.open(group, settings, how);
  }

  /** See `refetchPartition`; what was begun goes on when nobody waits for it. */
  refetch(group: PartitionGroup): Promise<RepairPartitionReply> {
    const { replication } = this.#context;
    assert(replication !== undefined, "only what others hold is fetched");
    let refetch = this.#refetches.get(group);
    if (refetch === undefined) {
      refetch = new Refetch({ clock: this.clock, log: this.log, group, shared: replication });
      this.#refetches.set(group, refetch);
    }
    return refetch.answer();
  }

  /**
   * Closes a partition that takes no writes and opens it anew, leaving damage behind, see `repairDamage` of
   * storage. Settles when it can be used or has failed to open.
   */
  reopen(group: PartitionGroup, settings: PartitionSettings, offsets: RepairedOffsets): Promise<void> {
    const reopening = this.#closeFiles(group, group.takeOut()).then(() =>
      this.open(group, settings, { repair: offsets }),
    );
    const tracked = reopening
      .catch(() => undefined)
      .finally(() => {
        this.#reopenings.delete(tracked);
      });
    this.#reopenings.add(tracked);
    return reopening;
  }

  /** Takes a group out of use and settles when nothing of it is in flight; its files go in the background. */
  async remove(group: PartitionGroup): Promise<void> {
    this.#groups.delete(group);
    this.#retries.forget(group);
    await group.close();
    this.#context.replication?.viewLog.forget(group.identity);
    this.#inBackground(this.#removeFiles(group));
  }

  /** Lets go of the older half of the messages kept in memory: somebody else needs it. */
  giveWay(): void {
    this.#tailCache.giveWay();
  }

  /** Lets what is in flight end, then flushes and closes every partition. */
  async stop(): Promise<void> {
    await this.#retries.stop();
    await Promise.all(this.#reopenings);
    await Promise.all([...this.#groups.keys()].map((group) => this.#close(group)));
    await Promise.all(this.#removals);
    this.#context.batchCipher?.close();
  }

  #turnToOpen(): Promise<void> | undefined {
    this.#openingCount += 1;
    if (this.#openingCount <= this.#options.config.partitionsOpeningMax) return undefined;
    return new Promise((resolve) => this.#waitingToOpen.push(resolve));
  }

  #optionsOf(identity: PartitionIdentity, settings: PartitionSettings): PartitionOptions {
    const { platform, kernel, pool, config } = this.#options;
    return {
      disk: platform.disk,
      path: partitionPath(identity),
      identity,
      kernel,
      pool,
      tailCache: this.#tailCache,
      log: platform.log,
      role: "exclusive",
      segmentLengthMax: settings.segmentSize,
      reservedLength: settings.preallocateSegments ? settings.segmentSize : 0,
      durability: settings.durability,
      offsetDurability: settings.consumerOffsetDurability,
      validateChecksums: config.validateChecksums,
      consumerOffsetsMax: config.consumerOffsetsMax,
      requestClientsMax: config.requestClientsMax,
      batchCipher: this.#context.batchCipher,
      isReplica: this.#context.replication !== undefined,
    };
  }

  async #removeFiles(group: PartitionGroup): Promise<void> {
    await new Promise<void>((resolve) => group.afterOpen(resolve));
    try {
      await group.partition?.close();
      await deletePartitionFiles(this.#options.platform.disk, partitionPath(group.identity));
    } catch (error) {
      if (!isCodedError(error)) throw error;
      const facts = { ...group.identity, code: error.code };
      this.log.warn("Files of a deleted partition could not be removed; the next start tries again.", facts);
    }
  }

  async #close(group: PartitionGroup): Promise<void> {
    await group.close(ErrorCode.ShuttingDown);
    await this.#closeFiles(group, group.partition);
  }

  async #closeFiles({ identity }: PartitionGroup, partition: Partition | undefined): Promise<void> {
    await partition?.close().catch((error: unknown) => {
      if (!isCodedError(error)) throw error;
      const facts = { ...identity, code: error.code };
      this.log.error("A partition could not be closed cleanly.", facts);
    });
  }

  #inBackground(work: Promise<void>): void {
    const tracked = work.finally(() => this.#removals.delete(tracked));
    this.#removals.add(tracked);
  }
}

/** Among several replicas a view change names every op in flight, so fewer may be. */
function depthOf(config: BrokerConfig, replicated: ReplicatedPartitions | undefined): number {
  const { partitionQueueDepth } = config;
  return replicated === undefined ? partitionQueueDepth : Math.min(partitionQueueDepth, PIPELINE_DEPTH_MAX);
}
