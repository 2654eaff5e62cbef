import { ByteWriter } from "@millrace/framing";

/** Says what is proved, and by which version of the handshake. */
const DOMAIN = "millrace replica handshake v1\0";

/** Bytes of a nonce: none comes twice. */
export const NONCE_LENGTH = 32;
/** Bytes that only the two ends of one TLS connection know; zeros where there is none. */
export const EXPORTER_LENGTH = 32;

/**
 * Bits of the byte that says what a side asks of a connection; both sides must ask for the same.
 * `sealedData`: messages are encrypted in the files of this side, and so is what it gives the other to store.
 */
export const Security = { authenticated: 1, encrypted: 2, sealedData: 4 } as const;

/** Which side a proof is of, so that it cannot be sent back as the other's. */
export type Prover = "acceptor" | "dialer";
const PROVER_BYTE = { acceptor: 1, dialer: 2 } as const;

/** Everything both sides have to agree on. */
export interface Agreement {
  readonly cluster: bigint;
  readonly dialer: number;
  readonly acceptor: number;
  readonly replicaCount: number;
  readonly security: number;
  readonly dialerNonce: Uint8Array;
  readonly acceptorNonce: Uint8Array;
  readonly exporter: Uint8Array;
}

/** The bytes under a proof. All lengths are fixed, so that no two agreements give the same bytes. */
export function transcriptOf(agreement: Agreement, prover: Prover): Uint8Array {
  const { cluster, dialer, acceptor, replicaCount, security } = agreement;
  return new ByteWriter(256)
    .utf8(DOMAIN)
    .u128(cluster)
    .u8(dialer)
    .u8(acceptor)
    .u8(replicaCount)
    .u8(security)
    .bytes(agreement.dialerNonce)
    .bytes(agreement.acceptorNonce)
    .bytes(agreement.exporter)
    .u8(PROVER_BYTE[prover])
    .finish();
}
