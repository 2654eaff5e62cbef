import type { NodeIdentity } from "@millrace/broker";
import { clusterIdOf } from "@millrace/transports/replica";
import type { Config } from "../config/schema.ts";

/** What the superblocks of this node hold. A server that is in no cluster has none, whatever its name. */
export async function nodeIdentity(cluster: Config["cluster"], replica: number): Promise<NodeIdentity> {
  if (!cluster.enabled) return { cluster: 0n, replica: 0, replicaCount: 1 };
  return { cluster: await clusterIdOf(cluster.name), replica, replicaCount: cluster.nodes.length };
}
