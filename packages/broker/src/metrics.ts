import type { Counter, Metrics } from "@millrace/platform";

/** What a broker counts. */
export interface BrokerMetrics {
  readonly requests: Counter;
  readonly refusals: Counter;
  readonly evictions: Counter;
  /** Sends that had been written before. */
  readonly repetitions: Counter;
  readonly messagesReceived: Counter;
  readonly bytesReceived: Counter;
  readonly messagesServed: Counter;
  readonly bytesServed: Counter;
  readonly scrubbedBytes: Counter;
  readonly damagesFound: Counter;
  readonly retention: RetentionMetrics;
  /** Totals of the two byte counters since start, for GetStats. */
  readonly totals: { readBytes: number; writtenBytes: number };
}

/** What left partitions, by the reason why. */
export interface RetentionMetrics {
  readonly segmentsExpired: Counter;
  readonly segmentsOverSize: Counter;
  readonly segmentsDeleted: Counter;
  readonly messagesRemoved: Counter;
  readonly bytesFreed: Counter;
}

/** What a broker measures when metrics are collected. */
export interface BrokerGauges {
  readonly connections: () => number;
  readonly sessions: () => number;
  readonly streams: () => number;
  readonly topics: () => number;
  readonly partitions: () => number;
  readonly segments: () => number;
  readonly messages: () => number;
  readonly users: () => number;
  readonly leasesOut: () => number;
  readonly segmentsHeldBack: () => number;
}

/** Declares the broker's metrics, once per broker. */
export function declareBrokerMetrics(metrics: Metrics, gauges: BrokerGauges): BrokerMetrics {
  metrics.gauge("connections", "Open client connections", gauges.connections);
  metrics.gauge("sessions", "Sessions in the client table", gauges.sessions);
  metrics.gauge("streams", "Streams", gauges.streams);
  metrics.gauge("topics", "Topics", gauges.topics);
  metrics.gauge("partitions", "Partitions", gauges.partitions);
  metrics.gauge("segments", "Segments of all partitions", gauges.segments);
  metrics.gauge("messages", "Messages in all partitions", gauges.messages);
  metrics.gauge("users", "Users", gauges.users);
  metrics.gauge("clients", "Connected clients", gauges.connections);
  metrics.gauge("message_leases", "Leases of message memory that are out", gauges.leasesOut);
  metrics.gauge(
    "retention_segments_held_back",
    "Segments the last pass of the cleaner kept for somebody's stored offset",
    gauges.segmentsHeldBack,
  );
  return {
    requests: metrics.counter("requests_total", "Requests received"),
    refusals: metrics.counter("request_refusals_total", "Requests answered with an error status"),
    repetitions: metrics.counter("repeated_sends_total", "Sends confirmed again, not written again"),
    evictions: metrics.counter("evictions_total", "Eviction frames sent"),
    messagesReceived: metrics.counter("messages_received_total", "Messages admitted"),
    bytesReceived: metrics.counter("message_bytes_received_total", "Bytes of admitted batches"),
    messagesServed: metrics.counter("messages_served_total", "Messages polled"),
    bytesServed: metrics.counter("message_bytes_served_total", "Bytes of polled batches"),
    scrubbedBytes: metrics.counter("scrubbed_bytes_total", "Bytes verified in the background"),
    damagesFound: metrics.counter("damages_found_total", "Damaged places found in the background"),
    retention: declareRetentionMetrics(metrics),
    totals: { readBytes: 0, writtenBytes: 0 },
  };
}

function declareRetentionMetrics(metrics: Metrics): RetentionMetrics {
  const segments = (reason: string, help: string) =>
    metrics.counter(`retention_segments_${reason}_total`, `Segments removed because ${help}`);
  return {
    segmentsExpired: segments("expired", "their messages had expired"),
    segmentsOverSize: segments("over_size", "the partition was over its size"),
    segmentsDeleted: segments("deleted", "a client asked for it"),
    messagesRemoved: metrics.counter("retention_messages_removed_total", "Messages in removed segments"),
    bytesFreed: metrics.counter("retention_bytes_freed_total", "Bytes of messages in removed segments"),
  };
}
