import type { ServerTls } from "../tls/server-tls.ts";

/** The protocol that both ends of an encrypted connection between replicas must name. */
export const ALPN = "iggy-replica";

/**
 * TLS 1.3 between replicas. It hides and ties the handshake to the connection; that a peer belongs to the
 * cluster is proved by the shared secret alone, so TLS is used with one only.
 */
export interface ReplicaTls extends ServerTls {
  /**
   * Authorities of the peers' certificates, PEM. Left out: any certificate is taken, for example one that a
   * peer has made at its start; the shared secret finds out whoever stands between.
   */
  readonly authorities?: string | Uint8Array | undefined;
}

/** What both ends have in common; a socket whose `alpnProtocol` is another is not for replicas. */
export function replicaTlsOptions({ certificate, privateKey }: ReplicaTls) {
  return {
    cert: Buffer.from(certificate),
    key: Buffer.from(privateKey),
    minVersion: "TLSv1.3" as const,
    ALPNProtocols: [ALPN],
  };
}

/** What the dialer adds. */
export function dialerTlsOptions(tls: ReplicaTls) {
  const { authorities } = tls;
  return {
    ...replicaTlsOptions(tls),
    rejectUnauthorized: authorities !== undefined,
    ...(authorities === undefined ? {} : { ca: Buffer.from(authorities) }),
  };
}
