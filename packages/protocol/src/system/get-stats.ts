import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";

/** Hits and misses of one partition's cache; `ratio` is hits over all reads, 0 to 1. */
export interface CacheMetrics {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly hits: number;
  readonly misses: number;
  readonly ratio: number;
}

/** What a server says about itself. Times are micros, memory and disk are bytes, CPU is percent. */
export interface Stats {
  readonly processId: number;
  readonly cpuUsage: number;
  readonly totalCpuUsage: number;
  readonly memoryUsage: number;
  readonly totalMemory: number;
  readonly availableMemory: number;
  readonly runTime: number;
  readonly startTime: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly messagesByteLength: number;
  readonly streamsCount: number;
  readonly topicsCount: number;
  readonly partitionsCount: number;
  readonly segmentsCount: number;
  readonly messagesCount: number;
  readonly clientsCount: number;
  readonly consumerGroupsCount: number;
  readonly hostname: string;
  readonly osName: string;
  readonly osVersion: string;
  readonly kernelVersion: string;
  readonly serverVersion: string;
  /** `major * 1 000 000 + minor * 1000 + patch`; 0 when unknown. */
  readonly serverVersionNumber: number;
  readonly cacheMetrics: readonly CacheMetrics[];
  readonly threadsCount: number;
  readonly freeDiskSpace: number;
  readonly totalDiskSpace: number;
}

/** Shape: section 8.10. The request has no body. */
export function encodeGetStatsReply(stats: Stats): Uint8Array {
  return encodeWith(writeStats, stats);
}

/** The counterpart of `encodeGetStatsReply`; throws WireError. */
export function decodeGetStatsReply(payload: Uint8Array): Stats {
  return decodeWith(readStats, payload);
}

function writeStats(writer: ByteWriter, stats: Stats): void {
  writer.u32(stats.processId).f32(stats.cpuUsage).f32(stats.totalCpuUsage);
  writer.u64(stats.memoryUsage).u64(stats.totalMemory).u64(stats.availableMemory);
  writer.u64(stats.runTime).u64(stats.startTime).u64(stats.readBytes).u64(stats.writtenBytes);
  writer.u64(stats.messagesByteLength).u32(stats.streamsCount).u32(stats.topicsCount);
  writer.u32(stats.partitionsCount).u32(stats.segmentsCount).u64(stats.messagesCount);
  writer.u32(stats.clientsCount).u32(stats.consumerGroupsCount);
  writer.str32(stats.hostname).str32(stats.osName).str32(stats.osVersion).str32(stats.kernelVersion);
  writer.str32(stats.serverVersion).u32(stats.serverVersionNumber);
  writer.u32(stats.cacheMetrics.length);
  for (const cache of stats.cacheMetrics) writeCacheMetrics(writer, cache);
  writer.u32(stats.threadsCount).u64(stats.freeDiskSpace).u64(stats.totalDiskSpace);
}

function readStats(reader: ByteReader): Stats {
  return {
    processId: reader.u32(),
    cpuUsage: reader.f32(),
    totalCpuUsage: reader.f32(),
    memoryUsage: reader.u64Number(),
    totalMemory: reader.u64Number(),
    availableMemory: reader.u64Number(),
    runTime: reader.u64Number(),
    startTime: reader.u64Number(),
    readBytes: reader.u64Number(),
    writtenBytes: reader.u64Number(),
    messagesByteLength: reader.u64Number(),
    streamsCount: reader.u32(),
    topicsCount: reader.u32(),
    partitionsCount: reader.u32(),
    segmentsCount: reader.u32(),
    messagesCount: reader.u64Number(),
    clientsCount: reader.u32(),
    consumerGroupsCount: reader.u32(),
    hostname: reader.str32(),
    osName: reader.str32(),
    osVersion: reader.str32(),
    kernelVersion: reader.str32(),
    serverVersion: reader.str32(),
    serverVersionNumber: reader.u32(),
    cacheMetrics: readRecords(reader, readCacheMetrics, reader.u32()),
    threadsCount: reader.u32(),
    freeDiskSpace: reader.u64Number(),
    totalDiskSpace: reader.u64Number(),
  };
}

function writeCacheMetrics(writer: ByteWriter, cache: CacheMetrics): void {
  writer.u32(cache.streamId).u32(cache.topicId).u32(cache.partitionId);
  writer.u64(cache.hits).u64(cache.misses).f32(cache.ratio);
}

function readCacheMetrics(reader: ByteReader): CacheMetrics {
  return {
    streamId: reader.u32(),
    topicId: reader.u32(),
    partitionId: reader.u32(),
    hits: reader.u64Number(),
    misses: reader.u64Number(),
    ratio: reader.f32(),
  };
}
