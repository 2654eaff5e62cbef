import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";

/** Which transport carries a connection; the byte is the one clients see in GetClients. */
export const TransportKind = { tcp: 1, quic: 2, http: 3, webSocket: 4, memory: 5, grpc: 6 } as const;
/** Byte of a transport kind. */
export type TransportKind = (typeof TransportKind)[keyof typeof TransportKind];

/** A user whose login was proved at some time; one with the same id that was made later is somebody else. */
export interface VouchedUser {
  readonly id: number;
  /** Micros since the epoch. */
  readonly provedAtMicros: number;
}

/** One open connection, whichever transport carries it. Every transport passes `transport.compliance.ts`. */
export interface Connection {
  readonly transport: TransportKind;
  /** Address of the peer as `host:port`, for logs and GetClients. */
  readonly remoteAddress: string;
  /**
   * The user the transport answers for, because a signed token proved who it is: a Register on this
   * connection needs no credentials. Left out by every transport that carries a peer's own bytes.
   */
  readonly vouchedUser?: VouchedUser;
  /**
   * The personal access token of its login comes with each request of the peer: once the token is deleted or
   * expired the session has ended. Left out where a token is only shown at login.
   */
  readonly endsWithToken?: boolean;
  /**
   * Called once per whole message (256-byte header and body), in order. Retain the lease to keep it past the
   * call.
   */
  onMessage: (messageLease: Lease) => void;
  /**
   * Called after the messages of one read event were handed over: the place to flush replies in one write.
   */
  onReadEnd: () => void;
  /**
   * Queues parts for one vectored write; they are lent until `onWritten`, which is called exactly once,
   * with an error when the connection closed first. Parts of several calls in one event may leave in one
   * system call. False means: wait for `onDrain` before the next.
   */
  send(parts: readonly Uint8Array[], onWritten?: (error?: CodedError) => void): boolean;
  onDrain: () => void;
  /**
   * Stops reading from the peer (at most what one read holds still arrives). Counted: each pause needs one
   * resume.
   */
  pause(): void;
  resume(): void;
  /**
   * Longest message from the next one on, in bytes; a longer one closes the connection. Never more than the
   * listener allows. Lower it while the peer is a stranger: what it announces takes room that others wait
   * for.
   */
  limitMessages?(lengthMax: number): void;
  /** Called once, last. No error means the peer, or our own `close()`, closed cleanly. */
  onClose: (error?: CodedError) => void;
  /**
   * Writes what is queued, then closes. With an error: closes at once and reports it to `onClose`.
   * Repeatable.
   */
  close(error?: CodedError): void;
}

/** Something that accepts connections. */
export interface Listener {
  /** The address really bound as `host:port`, with the port chosen when 0 was asked. */
  readonly address: string;
  readonly port: number;
  /** Stops accepting; open connections stay. */
  close(): Promise<void>;
}
