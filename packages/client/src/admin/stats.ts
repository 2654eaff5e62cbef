import type { CacheMetrics as CacheMetricsRecord, Stats as StatsRecord } from "@millrace/protocol";

type Exact =
  | "memoryUsage"
  | "totalMemory"
  | "availableMemory"
  | "runTime"
  | "startTime"
  | "readBytes"
  | "writtenBytes"
  | "messagesCount"
  | "freeDiskSpace"
  | "totalDiskSpace";

/** Hits and misses of one partition's cache; `ratio` is 0 to 1. */
export interface CacheMetrics {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  readonly hits: bigint;
  readonly misses: bigint;
  readonly ratio: number;
}

/**
 * What a server says about itself. Memory and disk are bytes, `runTime` and `startTime` micros, CPU percent;
 * 64-bit figures are bigint.
 */
export type Stats = Readonly<Record<Exact, bigint>> &
  Omit<StatsRecord, Exact | "messagesByteLength" | "cacheMetrics"> & {
    /** Bytes of all messages. */
    readonly messagesSize: bigint;
    readonly cacheMetrics: readonly CacheMetrics[];
  };

function cacheMetricsOf(record: CacheMetricsRecord): CacheMetrics {
  return { ...record, hits: BigInt(record.hits), misses: BigInt(record.misses) };
}

/** The statistics a reply holds. */
export function statsOf(record: StatsRecord): Stats {
  const { messagesByteLength, ...rest } = record;
  return {
    ...rest,
    memoryUsage: BigInt(record.memoryUsage),
    totalMemory: BigInt(record.totalMemory),
    availableMemory: BigInt(record.availableMemory),
    runTime: BigInt(record.runTime),
    startTime: BigInt(record.startTime),
    readBytes: BigInt(record.readBytes),
    writtenBytes: BigInt(record.writtenBytes),
    messagesSize: BigInt(messagesByteLength),
    messagesCount: BigInt(record.messagesCount),
    freeDiskSpace: BigInt(record.freeDiskSpace),
    totalDiskSpace: BigInt(record.totalDiskSpace),
    cacheMetrics: record.cacheMetrics.map(cacheMetricsOf),
  };
}
