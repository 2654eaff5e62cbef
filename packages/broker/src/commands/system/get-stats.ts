import {
  encodeGetStatsReply,
  SERVER_VERSION_NUMBER,
  SERVER_VERSION_TEXT,
  type Stats,
} from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { checkPermission } from "../../admission/check-permission.ts";
import { directFields } from "../../replies/direct-fields.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refuseWith } from "../handler.ts";
import { topicContents } from "../topics/topic-records.ts";

/**
 * What the server does and holds. Partition caches are not listed one by one: their count would grow with the
 * partitions, and no client reads them.
 */
export const getStats: Handler = (shard, request, session) => {
  checkEmptyBody(request);
  checkPermission(shard, session, "read-server");
  shard.platform.disk.space().then(
    ({ freeLength, totalLength }) =>
      shard.partitions.freshen(() => {
        const stats = { ...statsOf(shard), freeDiskSpace: freeLength, totalDiskSpace: totalLength };
        request.answer([encodeGetStatsReply(stats)], directFields(shard, request.connection));
      }),
    (error: unknown) => refuseWith(shard, request, error),
  );
};

function statsOf(shard: Shard): Omit<Stats, "freeDiskSpace" | "totalDiskSpace"> {
  const { host, clock } = shard.platform;
  const { threadsCount, ...facts } = host.facts;
  return {
    ...facts,
    threadsCount,
    ...host.load(),
    startTime: shard.startedAtMicros,
    runTime: Math.max(0, clock.wallMicros() - shard.startedAtMicros),
    readBytes: shard.metrics.totals.readBytes,
    writtenBytes: shard.metrics.totals.writtenBytes,
    ...contentsOf(shard),
    clientsCount: shard.connections.count,
    serverVersion: SERVER_VERSION_TEXT,
    serverVersionNumber: SERVER_VERSION_NUMBER,
    cacheMetrics: [],
  };
}

function contentsOf(shard: Shard) {
  const totals = { messagesByteLength: 0, messagesCount: 0, segmentsCount: 0 };
  for (const stream of shard.catalog.streams()) {
    for (const topic of stream.topics.list()) {
      const contents = topicContents(shard, topic);
      totals.messagesByteLength += contents.byteLength;
      totals.messagesCount += contents.messagesCount;
      totals.segmentsCount += contents.segmentsCount;
    }
  }
  const { streams, topics, partitions, groups } = shard.catalog.counts();
  return {
    ...totals,
    streamsCount: streams,
    topicsCount: topics,
    partitionsCount: partitions,
    consumerGroupsCount: groups,
  };
}
