/** How a client checks the server it connects to. Everything has a default. */
export interface ClientTls {
  /** Name the certificate must be for; default the host that was connected to. */
  readonly serverName?: string;
  /** Certificate authorities to trust in place of the system's, PEM. */
  readonly authorities?: string | Uint8Array;
  /**
   * Whether the certificate is checked; default true. Without, anybody in between can read and change all.
   */
  readonly isVerified?: boolean;
}

/** Options of `node:tls` that say the same; the protocol's least version is TLS 1.2. */
export function tlsConnectOptions(tls: ClientTls): {
  servername?: string;
  ca?: string | Buffer;
  rejectUnauthorized: boolean;
  minVersion: "TLSv1.2";
} {
  const { serverName, authorities, isVerified = true } = tls;
  return {
    rejectUnauthorized: isVerified,
    minVersion: "TLSv1.2",
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(authorities === undefined ? {} : { ca: textOrBuffer(authorities) }),
  };
}

function textOrBuffer(pem: string | Uint8Array): string | Buffer {
  return typeof pem === "string" ? pem : Buffer.from(pem);
}
