import type { ClusterMetadata } from "@millrace/protocol";
import type { ClusterNode } from "../config/cluster-schema.ts";
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

function byReplica(one: ClusterNode, other: ClusterNode): number {
  return one.replica_id - other.replica_id;
}

/**
 * The roster of a cluster of several nodes, by replica id, as one of them sees it: the addresses of
 * `[cluster]`, who leads, and whom it can reach.
 *
 * @param seen.primary  primary of the metadata group; undefined while nobody is
 */
export function clusterRoster(
  { name, nodes }: Config["cluster"],
  seen: { readonly primary: number | undefined; isUp(replica: number): boolean },
): ClusterMetadata {
  return {
    name,
    nodes: [...nodes].sort(byReplica).map((node) => ({
      name: node.name,
      ip: node.advertised_address ?? node.ip,
      tcpPort: node.ports.tcp ?? 0,
      quicPort: node.ports.quic ?? 0,
      httpPort: node.ports.http ?? 0,
      websocketPort: node.ports.websocket ?? 0,
      role: node.replica_id === seen.primary ? "leader" : "follower",
      status: seen.isUp(node.replica_id) ? "healthy" : "unreachable",
    })),
  };
}
