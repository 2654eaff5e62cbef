import { fieldKindName } from "@millrace/framing";
import type {
  CacheMetrics,
  ClientDetails,
  ClientRecord,
  ClusterMetadata,
  ClusterNode,
  OptionDescription,
  Stats,
  TransportName,
} from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";
import { sizeText } from "./option-json.ts";

const TRANSPORTS: Readonly<Record<TransportName, string>> = {
  tcp: "TCP",
  quic: "QUIC",
  http: "HTTP",
  websocket: "WebSocket",
};

/** ClientInfo. */
export function clientJson(client: ClientRecord): { readonly [name: string]: JsonValue } {
  return {
    client_id: client.clientId,
    user_id: client.userId ?? null,
    address: client.address,
    transport: TRANSPORTS[client.transport],
    consumer_groups_count: client.groupsCount,
  };
}

/** ClientInfoDetails. */
export function clientDetailsJson(client: ClientDetails): JsonValue {
  const groups = client.groups.map(({ streamId, topicId, groupId }) => ({
    stream_id: streamId,
    topic_id: topicId,
    group_id: groupId,
  }));
  return { ...clientJson(client), consumer_groups: groups };
}

/** OptionSpec. */
export function optionSpecJson({ key, defaultValue, description }: OptionDescription): JsonValue {
  const kind = fieldKindName(defaultValue.kind) ?? "raw";
  return { key, kind, default_value: [...defaultValue.bytes], description };
}

/** ClusterMetadata. */
export function clusterJson({ name, nodes }: ClusterMetadata): JsonValue {
  return { name, nodes: nodes.map(nodeJson) };
}

/** Stats. */
export function statsJson(stats: Stats): JsonValue {
  return {
    process_id: stats.processId,
    cpu_usage: stats.cpuUsage,
    total_cpu_usage: stats.totalCpuUsage,
    memory_usage: sizeText(stats.memoryUsage),
    total_memory: sizeText(stats.totalMemory),
    available_memory: sizeText(stats.availableMemory),
    run_time: stats.runTime,
    start_time: stats.startTime,
    read_bytes: sizeText(stats.readBytes),
    written_bytes: sizeText(stats.writtenBytes),
    messages_size_bytes: sizeText(stats.messagesByteLength),
    streams_count: stats.streamsCount,
    topics_count: stats.topicsCount,
    partitions_count: stats.partitionsCount,
    segments_count: stats.segmentsCount,
    messages_count: stats.messagesCount,
    clients_count: stats.clientsCount,
    consumer_groups_count: stats.consumerGroupsCount,
    hostname: stats.hostname,
    os_name: stats.osName,
    os_version: stats.osVersion,
    kernel_version: stats.kernelVersion,
    iggy_server_version: stats.serverVersion,
    iggy_server_semver: stats.serverVersionNumber === 0 ? null : stats.serverVersionNumber,
    cache_metrics: Object.fromEntries(stats.cacheMetrics.map(cacheEntry)),
    threads_count: stats.threadsCount,
    free_disk_space: sizeText(stats.freeDiskSpace),
    total_disk_space: sizeText(stats.totalDiskSpace),
  };
}

function nodeJson(node: ClusterNode): JsonValue {
  const { name, ip, role, status } = node;
  const endpoints = {
    tcp: node.tcpPort,
    quic: node.quicPort,
    http: node.httpPort,
    websocket: node.websocketPort,
  };
  return { name, ip, endpoints, role, status };
}

function cacheEntry({
  streamId,
  topicId,
  partitionId,
  hits,
  misses,
  ratio,
}: CacheMetrics): [string, JsonValue] {
  return [`${streamId}-${topicId}-${partitionId}`, { hits, misses, hit_ratio: ratio }];
}
