import type { ClusterMetadata } from "@millrace/protocol";
import type { Config } from "../config/schema.ts";

/**
 * The roster of a server without peers: one healthy leader at the address clients can reach. With
 * `[cluster]` it has the names and the address that are given there.
 *
 * @param bound  where the listeners are really bound; port 0 for one that is off
 */
export function singleNodeRoster(
  bound: {
    readonly host: string;
    readonly tcpPort: number;
    readonly httpPort: number;
    readonly websocketPort: number;
  },
  { cluster, node: { advertised_address: advertised } }: Pick<Config, "cluster" | "node">,
): ClusterMetadata {
  const [own] = cluster.enabled ? cluster.nodes : [];
  return {
    name: own === undefined ? "single-node" : cluster.name,
    nodes: [
      {
        name: own?.name ?? "iggy-node",
        ip: own?.advertised_address ?? advertised ?? own?.ip ?? bound.host,
        tcpPort: bound.tcpPort,
        quicPort: 0,
        httpPort: bound.httpPort,
        websocketPort: bound.websocketPort,
        role: "leader",
        status: "healthy",
      },
    ],
  };
}
