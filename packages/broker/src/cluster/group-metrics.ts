import type { Counter, Metrics } from "@millrace/platform";
import type { Replica } from "@millrace/vsr";

/** The groups of a node. */
export interface MeasuredGroups {
  metadata(): Replica;
  /** Replicas of the partitions' groups that are open. */
  partitions(): Iterable<Replica>;
}

/** Views that began. */
export interface GroupMetrics {
  readonly metadataViews: Counter;
  readonly partitionViews: Counter;
}

/** Declares what a node of a cluster measures of its groups: the metadata's, and the partitions' as sums. */
export function declareGroupMetrics(metrics: Metrics, groups: MeasuredGroups): GroupMetrics {
  const sum = (of: (replica: Replica) => number) => () => {
    let total = 0;
    for (const replica of groups.partitions()) total += of(replica);
    return total;
  };
  const isNormal = ({ status }: Replica) => status === "normal";
  const lag = ({ commitKnown, commit }: Replica) => commitKnown - commit;
  metrics.gauge("replica_metadata_view", "View of the metadata group", () => groups.metadata().view);
  metrics.gauge("replica_metadata_op", "Last numbered op of the metadata", () => groups.metadata().op);
  metrics.gauge(
    "replica_metadata_commit",
    "Last committed op of the metadata",
    () => groups.metadata().commit,
  );
  metrics.gauge("replica_metadata_lag_ops", "Committed ops of the metadata that this node lacks", () =>
    lag(groups.metadata()),
  );
  metrics.gauge("replica_metadata_leads", "1 on the node that leads the metadata", () =>
    groups.metadata().isPrimary ? 1 : 0,
  );
  metrics.gauge(
    "replica_partitions_led",
    "Partitions that this node leads",
    sum((replica) => (replica.isPrimary ? 1 : 0)),
  );
  metrics.gauge(
    "replica_partitions_waiting",
    "Partitions whose view has not begun on this node",
    sum((replica) => (isNormal(replica) ? 0 : 1)),
  );
  metrics.gauge("replica_partitions_lag_ops", "Committed ops of partitions that this node lacks", sum(lag));
  const views = (group: string) =>
    metrics.counter("replica_view_changes_total", "Views of groups that began after another one", { group });
  return { metadataViews: views("metadata"), partitionViews: views("partition") };
}
