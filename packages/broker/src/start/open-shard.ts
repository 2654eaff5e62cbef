import { loadKeyHash } from "@millrace/framing";
import type { Counter } from "@millrace/platform";
import { type MetadataJournal, openMetadataJournal } from "@millrace/storage";
import type { BrokerOptions } from "../broker-options.ts";
import { ClusterMember } from "../cluster/cluster-member.ts";
import { createPrepareChecksum } from "../consensus/prepare-checksum.ts";
import { GroupPlane } from "../consumer-groups/group-plane.ts";
import { DoubtfulDeletions } from "../metadata-plane/doubtful-deletions.ts";
import { METADATA_PATH } from "../metadata-plane/metadata-path.ts";
import { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import { recoverState } from "../metadata-plane/recover-state.ts";
import { type BrokerMetrics, declareBrokerMetrics } from "../metrics.ts";
import { LocalPartitions } from "../partition-plane/local-partitions.ts";
import { declarePartitionMetrics } from "../partition-plane/metrics.ts";
import { PartitionHost } from "../partition-plane/partition-host.ts";
import { type PartitionOwners, PartitionPlane } from "../partition-plane/partition-plane.ts";
import { MessageCleaner } from "../retention/message-cleaner.ts";
import { BalancedCounters } from "../routing/balanced-counters.ts";
import { ConnectionRegistry } from "../sessions/connection-registry.ts";
import { PasswordChecks } from "../sessions/password-checks.ts";
import { endSessionsOf } from "../sessions/user-sessions.ts";
import type { Shard } from "../shard.ts";
import { ShardedPartitions } from "../shards/sharded-partitions.ts";
import { loadTokenDigest } from "../tokens/token-digest.ts";
import { ensureRootUser } from "./ensure-root-user.ts";
import { keepIdentity, STANDING_ALONE } from "./node-identity.ts";
import { openDataDirectory } from "./open-data-directory.ts";
import { type EffectParts, performEffects } from "./perform-effects.ts";
import { SnapshotCollector } from "./snapshot-collector.ts";

/** A recovered shard and how to put it away. */
export interface OpenedShard {
  readonly shard: Shard;
  /** Ends what is in flight, flushes and closes every file, gives the data directory back. */
  close(): Promise<void>;
}

/**
 * Recovers a shard: the directory is taken, metadata is replayed, partitions are opened, a first root user is
 * made.
 *
 * @throws CodedError as `createBroker` says; everything opened so far is closed again
 */
export async function openShard(options: BrokerOptions): Promise<OpenedShard> {
  const lock = await openDataDirectory(options);
  const closers: (() => Promise<void>)[] = [() => lock.release()];
  const close = async () => {
    for (const closer of closers.reverse()) await closer();
  };
  try {
    const shard = await recoverShard(options, closers);
    if (options.cluster === undefined) await ensureRootUser(shard.metadata, options.rootUser);
    return { shard, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function recoverShard(options: BrokerOptions, closers: (() => Promise<void>)[]): Promise<Shard> {
  const { platform, kernel, config } = options;
  const journal = await openMetadataJournal({
    disk: platform.disk,
    path: METADATA_PATH,
    kernel,
    log: platform.log,
    role: "exclusive",
  });
  await keepIdentity(journal.superblock, options.identity ?? STANDING_ALONE);
  const checksumOf = createPrepareChecksum(kernel);
  const partitionMetrics = declarePartitionMetrics(platform.metrics);
  const member = await ClusterMember.join(options, journal, partitionMetrics.deniedTransient);
  const partitions = new PartitionPlane({
    platform,
    owners: ownersOf(options, partitionMetrics.deniedTransient, member),
    metrics: partitionMetrics,
  });
  const connections = new ConnectionRegistry();
  const groups = new GroupPlane({
    clock: platform.clock,
    partitions,
    rebalancingTimeoutMs: config.rebalancingTimeoutMs,
    catalog: () => metadata.catalog,
    cluster: member && {
      isConnected: (client) => connections.isLoggedIn(client),
      isAttached: (client) => connections.isAttached(client),
      isPrimary: () => metadata.isPrimary,
    },
    submit: (request) => metadata.submit(request),
  });
  const metadata: MetadataPlane = recoverMetadata(options, {
    journal,
    partitions,
    groups,
    checksumOf,
    member,
    userChanged: (user) => endSessionsOf(shard, user),
  });
  closers.push(
    async () => member?.close(),
    () => partitions.stop(),
    async () => groups.stop(),
    () => metadata.stop(),
    async () => member?.stop(),
  );
  await partitions.recover(metadata.catalog, metadata);
  groups.recover();
  const standings = member?.standingsOf({ metadata, partitions });
  const shard = await shardOf(options, { metadata, partitions, groups, connections, standings });
  await member?.clean(shard);
  member?.start(shard);
  return shard;
}

function ownersOf(
  options: BrokerOptions,
  deniedTransient: Counter,
  member: ClusterMember | undefined,
): PartitionOwners {
  const { bus } = options;
  const host = new PartitionHost(options, { deniedTransient }, member);
  if (bus === undefined || bus.shardsCount === 1) return new LocalPartitions(host);
  return new ShardedPartitions({ ...options, host, bus, deniedTransient });
}

function recoverMetadata(
  { platform, config, kernel }: BrokerOptions,
  parts: EffectParts & {
    readonly journal: MetadataJournal;
    readonly member: ClusterMember | undefined;
    readonly checksumOf: ReturnType<typeof createPrepareChecksum>;
  },
): MetadataPlane {
  const recovered = recoverState(parts.journal, {
    clientsMax: config.clientsTableMax,
    isReplicated: parts.member !== undefined,
    log: platform.log,
  });
  if (parts.member !== undefined)
    parts.member.doubtful = new DoubtfulDeletions(recovered, config.clientsTableMax);
  return new MetadataPlane({
    clock: platform.clock,
    log: platform.log,
    journal: parts.journal,
    recovered,
    checksumOf: parts.checksumOf,
    prepareQueueDepth: config.metadataQueueDepth,
    admissionTimeoutMs: config.admissionTimeoutMs,
    snapshotEveryOps: config.snapshotEveryOps,
    peers: parts.member?.peers.metadataGroup(),
    transfers: parts.member?.transfers,
    silent: parts.member?.silent,
    hash: kernel,
    clientsMax: config.clientsTableMax,
    perform: (effects, view) => performEffects(parts, effects, view),
    purgesHeld: () => parts.partitions.purgesHeld(),
    isExecutedByMajority: parts.member && ((op) => parts.member?.executed.of(op) ?? Promise.resolve(true)),
  });
}

type OpenedParts = Pick<Shard, "metadata" | "partitions" | "groups" | "connections" | "standings">;

async function shardOf(
  options: BrokerOptions,
  { metadata, partitions, groups, connections, standings }: OpenedParts,
): Promise<Shard> {
  const { platform, kernel, pool, config, roster } = options;
  const messageCleaner = new MessageCleaner({
    clock: platform.clock,
    log: platform.log,
    partitions,
    intervalMs: config.messageCleaner.intervalMs,
    messageLengthMax: config.messageLengthMax,
    metrics: () => metrics.retention,
    catalog: () => metadata.catalog,
  });
  const metrics = declareMetrics(options, { metadata, partitions, connections, messageCleaner });
  const nobodysPassword = new TextDecoder("latin1").decode(platform.random.bytes(16));
  return {
    config,
    platform,
    kernel,
    pool,
    keyHash: await loadKeyHash(),
    tokenDigest: await loadTokenDigest(),
    roster,
    standings,
    metadata,
    partitions,
    groups,
    connections,
    catalog: metadata.catalog,
    counters: new BalancedCounters(),
    passwordChecks: new PasswordChecks({
      passwords: platform.passwords,
      dummyHash: await platform.passwords.hash(nobodysPassword),
    }),
    metrics,
    messageCleaner,
    snapshots: options.collectSnapshot && new SnapshotCollector(options.collectSnapshot, platform.clock),
    startedAtMicros: platform.clock.wallMicros(),
  };
}

function declareMetrics(
  { platform, pool }: BrokerOptions,
  parts: Pick<Shard, "metadata" | "partitions" | "connections" | "messageCleaner">,
): BrokerMetrics {
  const { metadata, partitions, connections, messageCleaner } = parts;
  return declareBrokerMetrics(platform.metrics, {
    connections: () => connections.count,
    sessions: () => metadata.clientTable.count,
    streams: () => metadata.catalog.counts().streams,
    topics: () => metadata.catalog.counts().topics,
    partitions: () => partitions.count,
    segments: () => partitions.totals().segmentsCount,
    messages: () => partitions.totals().messagesCount,
    users: () => metadata.catalog.counts().users,
    leasesOut: () => pool.leasesOut,
    segmentsHeldBack: () => messageCleaner.held.segmentsCount,
  });
}
