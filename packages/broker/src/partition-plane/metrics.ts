import type { Counter, Metrics } from "@millrace/platform";

/** Number of the one shard there is; the reference counts these things per shard, by this label. */
const SHARD = { shard: "0" };

/** What happens to partitions as a whole. */
export interface PartitionMetrics {
  readonly materialised: Counter;
  readonly removed: Counter;
  readonly deniedTransient: Counter;
}

/**
 * Declares the metrics of partitions, under the reference's names, once per broker.
 * @see server-semantics section 17
 */
export function declarePartitionMetrics(metrics: Metrics): PartitionMetrics {
  return {
    materialised: metrics.counter(
      "partitions_materialised_total",
      "Partitions opened, at start or when made",
      SHARD,
    ),
    removed: metrics.counter("partitions_removed_total", "Partitions deleted", SHARD),
    deniedTransient: metrics.counter(
      "partition_requests_denied_transient_total",
      "Requests to partitions answered with 58: no room in time, or not open yet",
      SHARD,
    ),
  };
}
