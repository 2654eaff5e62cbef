import type { AddressInfo, Server } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool } from "@millrace/framing";
import type { Connection, Listener, Log } from "@millrace/platform";
import { SharedSpace } from "../assembly/message-space.ts";
import { systemCode } from "../connection-lost.ts";
import type { ServerTls } from "../tls/server-tls.ts";
import { addressText, cannotBind } from "./addresses.ts";

/**
 * Connections the kernel holds for us before they are accepted: a burst of clients that reconnect at once.
 */
const BACKLOG = 1024;

/**
 * A peer may owe the rest of a message for so long, plus a second for each MiB; then the pool gets its room
 * back.
 */
const OWED_MAX_MS = 30_000;

/** A peer that sent nothing since it connected is closed after so long; every client sends its login. */
const SILENT_MAX_MS = 60_000;
/** How often in the shorter of both times peers are looked at. */
const CHECKS = 6;

/** Refused connections are logged at most this often. */
const REFUSAL_LOG_MS = 10_000;

/** Where to listen, what to read into and whom to tell. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly leases: BlockPool;
  /** Longest message, header and body, in bytes; never more than the whole pool. */
  readonly messageLengthMax: number;
  /** Sockets at once, those whose handshake is under way included; one more is closed. */
  readonly connectionsMax: number;
  /** Called once per accepted connection, before anything is read; set its callbacks here. */
  readonly onConnection: (connection: Connection) => void;
  readonly log: Log;
  /** Encrypts the connections; then bytes are copied into blocks, after they were decrypted. */
  readonly tls?: ServerTls;
  /**
   * How long a peer may owe the rest of a message, not counting a second for each of its MiB; default 30 s.
   */
  readonly owedMaxMs?: number;
  /** How long a peer may stay connected without having sent a byte; default 60 s. */
  readonly silentMaxMs?: number;
  /** How long a peer may take to close its side after we closed ours; default 5 s. */
  readonly closeGraceMs?: number;
  /** How long a TLS handshake, or the request that opens a WebSocket, may take; default 10 s. */
  readonly handshakeMaxMs?: number;
}

/** A listener with its counts. */
export interface CountingListener extends Listener {
  readonly connectionsOpen: number;
  readonly connectionsRefused: number;
}

/** Knows what a peer has sent. */
export interface PeerWatch {
  /** True until the first byte of a message. */
  readonly isSilent: boolean;
  /** True when the peer owes the rest of one message for longer than `baseMs` and a second for each MiB. */
  owesTooLong(nowMs: number, baseMs: number): boolean;
}

interface Watched {
  readonly watch: PeerWatch;
  readonly sinceMs: number;
}

/** The longest message that the options and the pool allow. */
export function longestMessage({ messageLengthMax, leases }: ListenOptions): number {
  return Math.min(messageLengthMax, leases.blocksTotal * leases.blockLength);
}

/**
 * What listeners on sockets have in common: binding, the table of open connections with the block they share,
 * refusals, and the end of peers that say nothing, or owe the rest of a message, for too long.
 */
export class SocketListener implements CountingListener {
  /** Where messages of all connections are put. */
  readonly space: SharedSpace;
  readonly #name: string;
  readonly #options: ListenOptions;
  readonly #server: Server;
  readonly #connections = new Map<Connection, Watched>();
  readonly #owedMaxMs: number;
  readonly #silentMaxMs: number;
  readonly #slowTimer: ReturnType<typeof setInterval>;
  #refused = 0;
  #refusalLoggedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #bound = { address: "", port: 0 };

  /** @param name  of the transport, for the log */
  constructor(name: string, options: ListenOptions, server: Server) {
    this.#name = name;
    this.#options = options;
    this.#server = server;
    this.space = new SharedSpace(options.leases);
    server.on("drop", () => this.noteRefusal());
    this.#owedMaxMs = options.owedMaxMs ?? OWED_MAX_MS;
    this.#silentMaxMs = options.silentMaxMs ?? SILENT_MAX_MS;
    const intervalMs = Math.min(this.#owedMaxMs, this.#silentMaxMs) / CHECKS;
    this.#slowTimer = setInterval(() => this.#closeSlow(), intervalMs);
    this.#slowTimer.unref();
  }

  get connectionsOpen(): number {
    return this.#connections.size;
  }

  get connectionsRefused(): number {
    return this.#refused;
  }

  get port(): number {
    return this.#bound.port;
  }

  get address(): string {
    return addressText({ host: this.#bound.address, port: this.#bound.port });
  }

  /** @throws CodedError `CannotBindToSocket` with host, port and cause */
  listen(): Promise<void> {
    const { host, port, log } = this.#options;
    return new Promise((resolve, reject) => {
      const onError = (error: Error) => {
        clearInterval(this.#slowTimer);
        reject(cannotBind({ host, port }, error));
      };
      this.#server.once("error", onError);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off("error", onError);
        this.#server.on("error", (error) =>
          log.error(`The ${this.#name} listener failed.`, { error: systemCode(error) }),
        );
        this.#bound = this.#server.address() as AddressInfo;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#server.listening) this.#server.close();
    this.#letGoWhenQuiet();
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** A connection is open; its owner hears of it. */
  add(connection: Connection, watch: PeerWatch): void {
    this.#connections.set(connection, { watch, sinceMs: performance.now() });
    this.#options.onConnection(connection);
  }

  /** A connection is gone. */
  forget(connection: Connection): void {
    this.#connections.delete(connection);
    this.#letGoWhenQuiet();
  }

  /** One connection too many came and was closed. */
  noteRefusal(): void {
    this.#refused++;
    const nowMs = performance.now();
    if (nowMs - this.#refusalLoggedMs < REFUSAL_LOG_MS) return;
    this.#refusalLoggedMs = nowMs;
    const { connectionsMax, log } = this.#options;
    const facts = { connectionsMax, refused: this.#refused };
    log.warn(`Refused a ${this.#name} connection: too many are open.`, facts);
  }

  /** Without connections no block is held; without a listener besides no timer runs. */
  #letGoWhenQuiet(): void {
    if (this.#connections.size > 0) return;
    this.space.release();
    if (this.#isClosed) clearInterval(this.#slowTimer);
  }

  #closeSlow(): void {
    const nowMs = performance.now();
    for (const [connection, { watch, sinceMs }] of this.#connections) {
      const isSilent = watch.isSilent && nowMs - sinceMs > this.#silentMaxMs;
      if (isSilent || watch.owesTooLong(nowMs, this.#owedMaxMs)) connection.close(tooSlow(isSilent));
    }
  }
}

function tooSlow(isSilent: boolean): CodedError {
  const what = isSilent ? "anything" : "the rest of a message";
  return new CodedError(ErrorCode.RequestTimeout, `The peer took too long to send ${what}.`);
}
