import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Platform } from "@millrace/platform";
import {
  clusterIdOf,
  loadChannelKeys,
  loadDataKey,
  ReplicaBus,
  type ReplicaTls,
} from "@millrace/transports/replica";
import type { ClusterTiming } from "@millrace/vsr";
import type { ClusterNode } from "../config/cluster-schema.ts";
import { encryptionKey } from "../config/encryption-key.ts";
import type { Config } from "../config/schema.ts";
import { listenerTls } from "./listener-tls.ts";

/** Milliseconds of a tick of consensus. */
const TICK_MS = 10;

/** What a prepare may be longer than the request it carries. */
const PREPARE_OVERHEAD = 4096;

/** What the bus works with. */
export interface ReplicaBusParts {
  readonly platform: Platform;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/**
 * The way to the other nodes of the cluster, not open yet; nothing for a server without any.
 *
 * @throws CodedError InvalidTlsCertificatePath, InvalidEncryptionKey
 */
export async function replicaBusOf(
  config: Config,
  replica: number,
  { platform, kernel, pool }: ReplicaBusParts,
): Promise<ReplicaBus | undefined> {
  const { cluster, message_bus: bus } = config;
  if (!cluster.enabled || cluster.nodes.length === 1) return undefined;
  const addressOf = (id: number) => replicaAddress(cluster.nodes, id);
  return new ReplicaBus({
    ...{ replica, replicaCount: cluster.nodes.length, cluster: await clusterIdOf(cluster.name) },
    ...{ listen: addressOf(replica), addressOf, hash: kernel, leases: pool },
    frameLengthMax: bus.max_message_size + PREPARE_OVERHEAD,
    queueFramesMax: bus.peer_queue_capacity,
    ...{ clock: platform.clock, random: platform.random, log: platform.log, metrics: platform.metrics },
    keys: await keysOf(cluster.auth),
    dataKey: await dataKeyOf(config.encryption),
    tls: await tlsOf(cluster.tls),
  });
}

/** The settings of `[cluster]` as consensus counts time: rounded down to ticks, at least one. */
export function clusterTiming(cluster: Config["cluster"]): ClusterTiming {
  const ticks = (ms: number) => Math.max(1, Math.floor(ms / TICK_MS));
  return {
    heartbeatTimeout: ticks(cluster.heartbeat_timeout),
    commitBroadcastInterval: ticks(cluster.commit_broadcast_interval),
    prepareRetransmitInterval: ticks(cluster.prepare_retransmit_interval),
    viewChangeRetransmitInterval: ticks(cluster.view_change_retransmit_interval),
    viewChangeStatusTimeout: ticks(cluster.view_change_status_timeout),
    requestStartViewRetransmitInterval: ticks(cluster.request_start_view_retransmit_interval),
    viewProbeAttemptsMax: cluster.view_probe_attempts_max,
    repairRetryInterval: ticks(cluster.repair_retry_interval),
    repairGapDebounceInterval: ticks(cluster.repair_gap_debounce_interval),
    repairChunkMax: cluster.repair_chunk_max,
  };
}

/** Where a node of a checked roster hears the others. */
function replicaAddress(nodes: readonly ClusterNode[], id: number) {
  const node = nodes.find((one) => one.replica_id === id);
  return { host: node?.ip ?? "", port: node?.ports.tcp_replica ?? 0 };
}

async function keysOf({
  enabled,
  shared_secret: sharedSecret,
  previous_shared_secret,
}: Config["cluster"]["auth"]) {
  if (!enabled) return undefined;
  const previousSharedSecret = previous_shared_secret === "" ? undefined : previous_shared_secret;
  return loadChannelKeys({ sharedSecret, previousSharedSecret });
}

/** What is stored is the same on all nodes, so all of them encrypt it, with one key, or none does. */
async function dataKeyOf(table: Config["encryption"]) {
  const key = encryptionKey(table);
  return key && loadDataKey(key);
}

async function tlsOf(table: Config["cluster"]["tls"]): Promise<ReplicaTls | undefined> {
  const own = await listenerTls(table, "cluster.tls");
  if (own === undefined || table.ca_file === "") return own;
  const { readFile } = await import("node:fs/promises");
  return { ...own, authorities: await readFile(table.ca_file) };
}
