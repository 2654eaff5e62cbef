import type { PeerBus } from "@millrace/platform";
import type { ClusterTiming } from "@millrace/vsr";

/** What makes a broker one replica of a cluster. */
export interface ClusterOptions {
  /** Id of the cluster, see `clusterIdOf`: every frame carries it. */
  readonly cluster: bigint;
  /** The way to the other replicas; tells which one this is and how many there are. */
  readonly bus: PeerBus;
  readonly timing: ClusterTiming;
}
