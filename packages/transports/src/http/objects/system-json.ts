import { FieldKind, fieldKindName } from "@millrace/framing";
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
import { NodeRoleCode, NodeStatusCode } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
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

const NAME_OF_TRANSPORT: Readonly<Record<string, TransportName>> = Object.fromEntries(
  Object.entries(TRANSPORTS).map(([name, word]) => [word, name as TransportName]),
);

/** The counterpart of `clientJson`. */
export function readClientJson(fields: Fields): ClientRecord {
  return {
    clientId: fields.u32("client_id"),
    userId: fields.optionalU32("user_id"),
    transport: fields.choice("transport", NAME_OF_TRANSPORT),
    address: fields.text("address"),
    groupsCount: fields.u32("consumer_groups_count"),
  };
}

/** The counterpart of `clientDetailsJson`. */
export function readClientDetailsJson(fields: Fields): ClientDetails {
  const groups = fields.objects("consumer_groups").map((group) => ({
    streamId: group.u32("stream_id"),
    topicId: group.u32("topic_id"),
    groupId: group.u32("group_id"),
  }));
  return { ...readClientJson(fields), groups };
}

/** The counterpart of `optionSpecJson`. */
export function readOptionSpecJson(fields: Fields): OptionDescription {
  const bytes = Uint8Array.from(fields.numbers("default_value"));
  return {
    key: fields.text("key"),
    defaultValue: { kind: fields.choice("kind", FieldKind), bytes },
    description: fields.text("description"),
  };
}

/** The counterpart of `clusterJson`. */
export function readClusterJson(fields: Fields): ClusterMetadata {
  return { name: fields.text("name"), nodes: fields.objects("nodes").map(readNode) };
}

/** The counterpart of `statsJson`. */
export function readStatsJson(fields: Fields): Stats {
  return {
    processId: fields.u32("process_id"),
    cpuUsage: fields.float("cpu_usage"),
    totalCpuUsage: fields.float("total_cpu_usage"),
    memoryUsage: fields.byteSize("memory_usage"),
    totalMemory: fields.byteSize("total_memory"),
    availableMemory: fields.byteSize("available_memory"),
    runTime: fields.count("run_time"),
    startTime: fields.count("start_time"),
    readBytes: fields.byteSize("read_bytes"),
    writtenBytes: fields.byteSize("written_bytes"),
    messagesByteLength: fields.byteSize("messages_size_bytes"),
    streamsCount: fields.u32("streams_count"),
    topicsCount: fields.u32("topics_count"),
    partitionsCount: fields.u32("partitions_count"),
    segmentsCount: fields.u32("segments_count"),
    messagesCount: fields.count("messages_count"),
    clientsCount: fields.u32("clients_count"),
    consumerGroupsCount: fields.u32("consumer_groups_count"),
    hostname: fields.text("hostname"),
    osName: fields.text("os_name"),
    osVersion: fields.text("os_version"),
    kernelVersion: fields.text("kernel_version"),
    serverVersion: fields.text("iggy_server_version"),
    serverVersionNumber: fields.u32("iggy_server_semver", 0),
    cacheMetrics: readCaches(fields),
    threadsCount: fields.u32("threads_count"),
    freeDiskSpace: fields.byteSize("free_disk_space"),
    totalDiskSpace: fields.byteSize("total_disk_space"),
  };
}

function readNode(fields: Fields): ClusterNode {
  const endpoints = fields.object("endpoints");
  return {
    name: fields.text("name"),
    ip: fields.text("ip"),
    tcpPort: endpoints.u32("tcp"),
    quicPort: endpoints.u32("quic"),
    httpPort: endpoints.u32("http"),
    websocketPort: endpoints.u32("websocket"),
    role: fields.choice("role", namesOf(NodeRoleCode)),
    status: fields.choice("status", namesOf(NodeStatusCode)),
  };
}

function readCaches(fields: Fields): CacheMetrics[] {
  const caches = fields.object("cache_metrics");
  return caches.entries().map(([key]) => {
    const [streamId = 0, topicId = 0, partitionId = 0] = key.split("-").map(Number);
    const cache = caches.object(key);
    const counts = { hits: cache.count("hits"), misses: cache.count("misses") };
    return { streamId, topicId, partitionId, ...counts, ratio: cache.float("hit_ratio") };
  });
}

function namesOf<Name extends string>(codes: Readonly<Record<Name, number>>): Readonly<Record<Name, Name>> {
  return Object.fromEntries(Object.keys(codes).map((name) => [name, name])) as Record<Name, Name>;
}
