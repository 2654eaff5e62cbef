import { createSecureContext } from "node:tls";
import { CodedError, ErrorCode } from "@millrace/errors";

/** How long a handshake may take, of TLS or of a WebSocket: a few small messages each way. */
export const HANDSHAKE_MAX_MS = 10_000;

/** What a listener proves itself with. */
export interface ServerTls {
  /** Certificate chain, PEM. */
  readonly certificate: string | Uint8Array;
  /** Private key of the certificate, PEM. */
  readonly privateKey: string | Uint8Array;
}

/** Options of a server of `node:tls` or `node:https`: TLS 1.2 and 1.3, no client certificates, no ALPN. */
export interface ServerTlsOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly minVersion: "TLSv1.2";
  readonly handshakeTimeout: number;
}

/**
 * Checks that certificate and key belong together.
 *
 * @throws CodedError InvalidTlsCertificate with the cause
 */
export function serverTlsOptions(tls: ServerTls, handshakeMaxMs = HANDSHAKE_MAX_MS): ServerTlsOptions {
  const pair = { cert: Buffer.from(tls.certificate), key: Buffer.from(tls.privateKey) };
  try {
    createSecureContext(pair);
  } catch (cause) {
    const text = "The TLS certificate and its private key are no PEM pair that can be used.";
    throw new CodedError(ErrorCode.InvalidTlsCertificate, text, { cause });
  }
  return { ...pair, minVersion: "TLSv1.2", handshakeTimeout: handshakeMaxMs };
}
