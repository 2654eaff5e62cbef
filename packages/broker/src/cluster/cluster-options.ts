import type { PeerBus } from "@millrace/platform";
import type { ClusterTiming } from "@millrace/vsr";
import type { WedgedOptions } from "./silent-groups.ts";

/** What makes a broker one replica of a cluster. */
export interface ClusterOptions {
  /** Id of the cluster, see `clusterIdOf`: every frame carries it. */
  readonly cluster: bigint;
  /** The way to the other replicas; tells which one this is and how many there are. */
  readonly bus: PeerBus;
  readonly timing: ClusterTiming;
  /** What is done when a replica cannot write for long; default: it stays silent. */
  readonly wedged?: WedgedOptions;
}
