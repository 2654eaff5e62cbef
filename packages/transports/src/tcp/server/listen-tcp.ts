import net, { type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool } from "@millrace/framing";
import type { Connection, Listener, Log } from "@millrace/platform";
import { SharedSpace } from "../../assembly/message-space.ts";
import { systemCode } from "../../connection-lost.ts";
import { type ServerTls, serverTlsOptions } from "../../tls/server-tls.ts";
import { TcpConnection, type TcpConnectionOptions } from "../tcp-connection.ts";
import { onreadWorks, rebuildWithOnread } from "./onread-socket.ts";

/** What one read of a connection between long messages may bring: as much as Node itself reads at once. */
const LANDING_LENGTH = 65_536;

/**
 * Connections the kernel holds for us before they are accepted: a burst of clients that reconnect at once.
 */
const BACKLOG = 1024;

/**
 * A peer may owe the rest of a message for so long, plus a second for each MiB; then the pool gets its room
 * back.
 */
const OWED_MAX_MS = 30_000;
const OWED_CHECKS = 6;

/** Refused connections are logged at most this often. */
const REFUSAL_LOG_MS = 10_000;

/** Where to listen, what to read into and whom to tell. */
export interface ListenTcpOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly leases: BlockPool;
  /** Longest message, header and body, in bytes; never more than the whole pool. */
  readonly messageLengthMax: number;
  readonly connectionsMax: number;
  /** Called once per accepted connection, before anything is read; set its callbacks here. */
  readonly onConnection: (connection: Connection) => void;
  readonly log: Log;
  /** Encrypts the connections; then bytes are copied into blocks, after they were decrypted. */
  readonly tls?: ServerTls;
  /** Read straight into blocks; default where the self-test says that it works. */
  readonly useOnread?: boolean;
  /**
   * How long a peer may owe the rest of a message, not counting a second for each of its MiB; default 30 s.
   */
  readonly owedMaxMs?: number;
  /** How long a peer may take to close its side after we closed ours; default 5 s. */
  readonly closeGraceMs?: number;
}

/** A TCP listener with its counts. */
export interface TcpListener extends Listener {
  readonly connectionsOpen: number;
  readonly connectionsRefused: number;
}

/**
 * Listens on TCP and hands over connections that carry whole messages.
 *
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 */
export async function listenTcp(options: ListenTcpOptions): Promise<TcpListener> {
  const onread = options.tls === undefined && (options.useOnread ?? (await onreadWorks()));
  const acceptor = new TcpAcceptor(options, onread);
  await acceptor.listen();
  return acceptor;
}

class TcpAcceptor implements TcpListener {
  readonly #options: ListenTcpOptions;
  readonly #server: net.Server;
  readonly #space: SharedSpace;
  readonly #landing: Uint8Array | undefined;
  readonly #connections = new Set<TcpConnection>();
  readonly #owedMaxMs: number;
  readonly #messageLengthMax: number;
  readonly #owedTimer: ReturnType<typeof setInterval>;
  #refused = 0;
  #refusalLoggedMs = Number.NEGATIVE_INFINITY;
  #closed = false;
  #bound = { address: "", port: 0 };

  constructor(options: ListenTcpOptions, onread: boolean) {
    this.#options = options;
    this.#space = new SharedSpace(options.leases);
    this.#landing = onread ? new Uint8Array(LANDING_LENGTH) : undefined;
    this.#server = createSocketServer(options, onread, (socket) => this.#accept(socket));
    this.#server.on("drop", () => this.#noteRefusal());
    const { leases } = options;
    this.#messageLengthMax = Math.min(options.messageLengthMax, leases.blocksTotal * leases.blockLength);
    this.#owedMaxMs = options.owedMaxMs ?? OWED_MAX_MS;
    this.#owedTimer = setInterval(() => this.#closeSlow(), this.#owedMaxMs / OWED_CHECKS);
    this.#owedTimer.unref();
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
    const { address, port } = this.#bound;
    return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  }

  listen(): Promise<void> {
    const { host, port, log } = this.#options;
    return new Promise((resolve, reject) => {
      const onError = (error: Error) => {
        clearInterval(this.#owedTimer);
        reject(cannotBind(host, port, error));
      };
      this.#server.once("error", onError);
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.off("error", onError);
        this.#server.on("error", (error) =>
          log.error("The TCP listener failed.", { error: systemCode(error) }),
        );
        this.#bound = this.#server.address() as net.AddressInfo;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closed = true;
    if (this.#server.listening) this.#server.close();
    this.#letGoWhenQuiet();
    return new Promise((resolve) => setImmediate(resolve));
  }

  #accept(socket: Socket): void {
    if (this.#connections.size < this.#options.connectionsMax) this.#open(socket);
    else this.#refuse(socket);
  }

  #open(socket: Socket): void {
    const connection = new TcpConnection(this.#connectionOptions(() => this.#forget(connection)));
    this.#connections.add(connection);
    const landing = this.#landing;
    if (landing === undefined) connection.attach(socket, true);
    else connection.attach(rebuildWithOnread(socket, connection.onread(landing)), false);
    this.#options.onConnection(connection);
  }

  #connectionOptions(onGone: () => void): TcpConnectionOptions {
    const { closeGraceMs } = this.#options;
    const options = { space: this.#space, messageLengthMax: this.#messageLengthMax, onGone };
    return closeGraceMs === undefined ? options : { ...options, closeGraceMs };
  }

  #refuse(socket: Socket): void {
    socket.on("error", () => {});
    socket.destroy();
    this.#noteRefusal();
  }

  #noteRefusal(): void {
    this.#refused++;
    const nowMs = performance.now();
    if (nowMs - this.#refusalLoggedMs < REFUSAL_LOG_MS) return;
    this.#refusalLoggedMs = nowMs;
    const { connectionsMax, log } = this.#options;
    log.warn("Refused a TCP connection: too many are open.", { connectionsMax, refused: this.#refused });
  }

  #forget(connection: TcpConnection): void {
    this.#connections.delete(connection);
    this.#letGoWhenQuiet();
  }

  /** Without connections no block is held; without a listener besides no timer runs. */
  #letGoWhenQuiet(): void {
    if (this.#connections.size > 0) return;
    this.#space.release();
    if (this.#closed) clearInterval(this.#owedTimer);
  }

  #closeSlow(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) {
      if (connection.owesTooLong(nowMs, this.#owedMaxMs)) connection.close(tooSlow(this.#owedMaxMs));
    }
  }
}

/** With TLS a socket is accepted once its handshake is done; those under way are bounded too. */
function createSocketServer(
  { tls, connectionsMax }: ListenTcpOptions,
  pauseOnConnect: boolean,
  onSocket: (socket: Socket) => void,
): net.Server {
  if (tls === undefined) return net.createServer({ pauseOnConnect, noDelay: true }, onSocket);
  const server = createTlsServer({ ...serverTlsOptions(tls), noDelay: true }, onSocket);
  server.maxConnections = connectionsMax;
  return server;
}

function tooSlow(owedMaxMs: number): CodedError {
  const text = "The peer took too long to send the rest of a message.";
  return new CodedError(ErrorCode.RequestTimeout, text, { details: { owedMaxMs } });
}

function cannotBind(host: string, port: number, cause: Error): CodedError {
  const text = `Cannot listen on ${host}:${port} (${systemCode(cause)}): is the port taken, the address ours?`;
  return new CodedError(ErrorCode.CannotBindToSocket, text, { details: { host, port }, cause });
}
