import type { ClusterMetadata } from "@millrace/protocol";

/**
 * The roster of a server that stands alone: one healthy leader at the address clients can reach.
 *
 * @param tcp  where the TCP listener is really bound
 */
export function singleNodeRoster(
  tcp: { readonly host: string; readonly port: number },
  advertisedAddress: string | undefined,
): ClusterMetadata {
  return {
    name: "single-node",
    nodes: [
      {
        name: "iggy-node",
        ip: advertisedAddress ?? tcp.host,
        tcpPort: tcp.port,
        quicPort: 0,
        httpPort: 0,
        websocketPort: 0,
        role: "leader",
        status: "healthy",
      },
    ],
  };
}
