import type { ClusterMetadata } from "@millrace/protocol";

/**
 * The roster of a server that stands alone: one healthy leader at the address clients can reach.
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
  advertisedAddress: string | undefined,
): ClusterMetadata {
  return {
    name: "single-node",
    nodes: [
      {
        name: "iggy-node",
        ip: advertisedAddress ?? bound.host,
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
