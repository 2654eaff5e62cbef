import type { LeaseSource } from "@millrace/framing";

/** Where to connect to, over whichever transport, and what to read into. */
export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** `HeapLeases` for a client: one array per message. */
  readonly leases: LeaseSource;
  /** Longest message, header and body, in bytes. */
  readonly messageLengthMax: number;
  /** For the whole attempt: names looked up, encryption and handshake included. */
  readonly timeoutMs: number;
  /** Gives the attempt up; has no effect on a connection that is open. */
  readonly signal?: AbortSignal;
}
