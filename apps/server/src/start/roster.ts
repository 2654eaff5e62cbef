import type { ClusterMetadata } from "@millrace/protocol";

/**
 * The roster of a server that stands alone: one healthy leader at the address clients can reach.
 *
 * @param tcp  where the TCP listener is really bound
 * @param options.httpPort  where the HTTP listener is really bound, 0 when there is none
 */
export function singleNodeRoster(
  tcp: { readonly host: string; readonly port: number },
  options: { readonly httpPort: number; readonly advertisedAddress: string | undefined },
): ClusterMetadata {
  return {
    name: "single-node",
    nodes: [
      {
        name: "iggy-node",
        ip: options.advertisedAddress ?? tcp.host,
        tcpPort: tcp.port,
        quicPort: 0,
        httpPort: options.httpPort,
        websocketPort: 0,
        role: "leader",
        status: "healthy",
      },
    ],
  };
}
