import type { CacheMetrics, Stats } from "@millrace/client";
import { Option } from "commander";
import { durationText } from "../formats/duration.ts";
import { sizeText } from "../formats/size.ts";
import { timestampText } from "../formats/timestamp.ts";
import { type Field, properties, rows } from "../output/result.ts";
import type { AddCommand } from "./command.ts";

function plain(name: string, title: string, value: (stats: Stats) => string | number | bigint): Field<Stats> {
  return { name, title, value };
}

function percent(name: string, title: string, value: (stats: Stats) => number): Field<Stats> {
  return { name, title, value, text: (stats) => `${value(stats).toFixed(2)} %` };
}

function bytes(name: string, title: string, value: (stats: Stats) => bigint): Field<Stats> {
  return { name, title, value, text: (stats) => sizeText(value(stats)) };
}

const STATS_FIELDS: readonly Field<Stats>[] = [
  plain("process_id", "Server PID", (stats) => stats.processId),
  percent("cpu_usage", "CPU Usage", (stats) => stats.cpuUsage),
  percent("total_cpu_usage", "Total CPU Usage", (stats) => stats.totalCpuUsage),
  bytes("memory_usage", "Memory Usage", (stats) => stats.memoryUsage),
  bytes("total_memory", "Total Memory", (stats) => stats.totalMemory),
  bytes("available_memory", "Available Memory", (stats) => stats.availableMemory),
  {
    name: "run_time",
    title: "Run Time",
    value: (stats) => stats.runTime,
    text: (stats) => durationText(stats.runTime),
  },
  {
    name: "start_time",
    title: "Start Time",
    value: (stats) => stats.startTime,
    text: (stats) => timestampText(stats.startTime),
  },
  bytes("read_bytes", "Read", (stats) => stats.readBytes),
  bytes("written_bytes", "Written", (stats) => stats.writtenBytes),
  bytes("messages_size_bytes", "Messages Size", (stats) => stats.messagesSize),
  plain("streams_count", "Streams Count", (stats) => stats.streamsCount),
  plain("topics_count", "Topics Count", (stats) => stats.topicsCount),
  plain("partitions_count", "Partitions Count", (stats) => stats.partitionsCount),
  plain("segments_count", "Segments Count", (stats) => stats.segmentsCount),
  plain("messages_count", "Messages Count", (stats) => stats.messagesCount),
  plain("clients_count", "Clients Count", (stats) => stats.clientsCount),
  plain("consumer_groups_count", "Consumer Groups Count", (stats) => stats.consumerGroupsCount),
  plain("hostname", "Hostname", (stats) => stats.hostname),
  plain("os_name", "OS Name", (stats) => stats.osName),
  plain("os_version", "OS Version", (stats) => stats.osVersion),
  plain("kernel_version", "Kernel Version", (stats) => stats.kernelVersion),
  plain("server_version", "Server Version", (stats) => stats.serverVersion),
  plain("server_semver", "Server Semver", (stats) => stats.serverVersionNumber),
  plain("threads_count", "Threads Count", (stats) => stats.threadsCount),
  bytes("free_disk_space", "Free Disk Space", (stats) => stats.freeDiskSpace),
  bytes("total_disk_space", "Total Disk Space", (stats) => stats.totalDiskSpace),
];

const CACHE_FIELDS: readonly Field<CacheMetrics>[] = [
  { name: "stream_id", title: "Stream ID", value: (cache) => cache.streamId },
  { name: "topic_id", title: "Topic ID", value: (cache) => cache.topicId },
  { name: "partition_id", title: "Partition", value: (cache) => cache.partitionId },
  { name: "hits", title: "Cache Hits", value: (cache) => cache.hits },
  { name: "misses", title: "Cache Misses", value: (cache) => cache.misses },
  {
    name: "hit_ratio",
    title: "Hit Ratio",
    value: (cache) => cache.ratio,
    text: (cache) => cache.ratio.toFixed(3),
  },
];

/** `millrace stats`; the only command that also answers in TOML. */
export const addStats: AddCommand = (parent, run) => {
  parent
    .command("stats")
    .description("show what the server says about itself")
    .addOption(
      new Option("-o, --output <mode>", "how to print the answer").choices(["table", "list", "json", "toml"]),
    )
    .action(
      run(async ({ client }) => {
        const stats = await (await client()).getStats();
        const caches = rows(CACHE_FIELDS, stats.cacheMetrics, "No cache is in use.");
        return properties(STATS_FIELDS, stats, { cache_metrics: caches });
      }),
    );
};
