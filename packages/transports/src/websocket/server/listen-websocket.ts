import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool } from "@millrace/framing";
import { type Connection, type Listener, type Log, TransportKind } from "@millrace/platform";
import { type WebSocket, WebSocketServer } from "ws";
import { SharedSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { systemCode } from "../../connection-lost.ts";
import { type ServerTls, serverTlsOptions } from "../../tls/server-tls.ts";
import { joinWebSocket } from "../node/node-connection.ts";
import { allowUnmaskedFrames } from "./unmasked-frames.ts";
import { UpgradedSocket } from "./upgraded-socket.ts";

/** Connections the kernel holds for us before they are accepted; as on TCP. */
const BACKLOG = 1024;

/** A peer may owe the rest of a message for so long, plus a second for each MiB. */
const OWED_MAX_MS = 30_000;
const OWED_CHECKS = 6;

/** How long the request that opens a WebSocket may take; it is one small write. */
const HANDSHAKE_MAX_MS = 10_000;
/** How often slow handshakes are looked for. */
const HANDSHAKE_CHECK_MS = 2000;
/** Headers of the request that opens a WebSocket, in bytes; browsers send cookies along. */
const HANDSHAKE_LENGTH_MAX = 16_384;

/** Refused connections are logged at most this often. */
const REFUSAL_LOG_MS = 10_000;

/** Where to listen, what to read into and whom to tell. */
export interface ListenWebSocketOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly leases: BlockPool;
  /** Longest message, header and body, in bytes; never more than the whole pool. */
  readonly messageLengthMax: number;
  /** Sockets, those whose handshake is still under way included. */
  readonly connectionsMax: number;
  /** Called once per WebSocket, before anything is read; set its callbacks here. */
  readonly onConnection: (connection: Connection) => void;
  readonly log: Log;
  /** Serves `wss`; without it `ws`. */
  readonly tls?: ServerTls;
  /** Takes frames of clients that do not mask; the standard wants them refused. Default false. */
  readonly acceptUnmaskedFrames?: boolean;
  /** How long a peer may owe the rest of a message, beside a second for each MiB; default 30 s. */
  readonly owedMaxMs?: number;
  /** How long a peer may take to close its side after we closed ours; default 5 s. */
  readonly closeGraceMs?: number;
}

/** A WebSocket listener with its counts. */
export interface WebSocketListener extends Listener {
  readonly connectionsOpen: number;
  readonly connectionsRefused: number;
}

/**
 * Listens for WebSockets on any path, without a subprotocol or compression.
 *
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 */
export async function listenWebSocket(options: ListenWebSocketOptions): Promise<WebSocketListener> {
  const acceptor = new WebSocketAcceptor(options);
  await acceptor.listen();
  return acceptor;
}

class WebSocketAcceptor implements WebSocketListener {
  readonly #options: ListenWebSocketOptions;
  readonly #server: Server;
  readonly #handshakes: WebSocketServer;
  readonly #space: SharedSpace;
  readonly #sockets = new Map<CarriedConnection, UpgradedSocket>();
  readonly #messageLengthMax: number;
  readonly #owedMaxMs: number;
  readonly #owedTimer: ReturnType<typeof setInterval>;
  #refused = 0;
  #refusalLoggedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #bound = { address: "", port: 0 };

  constructor(options: ListenWebSocketOptions) {
    this.#options = options;
    const { leases } = options;
    this.#space = new SharedSpace(leases);
    this.#messageLengthMax = Math.min(options.messageLengthMax, leases.blocksTotal * leases.blockLength);
    this.#handshakes = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#messageLengthMax,
    });
    this.#server = createHttpServer(options);
    this.#server.on("upgrade", (request: IncomingMessage, socket, head) =>
      this.#upgrade(request, socket as Socket, head),
    );
    this.#server.on("drop", () => this.#noteRefusal());
    this.#owedMaxMs = options.owedMaxMs ?? OWED_MAX_MS;
    this.#owedTimer = setInterval(() => this.#closeSlow(), this.#owedMaxMs / OWED_CHECKS);
    this.#owedTimer.unref();
  }

  get connectionsOpen(): number {
    return this.#sockets.size;
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
          log.error("The WebSocket listener failed.", { error: systemCode(error) }),
        );
        this.#bound = this.#server.address() as AddressInfo;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#server.listening) this.#server.close();
    this.#server.closeIdleConnections();
    this.#letGoWhenQuiet();
    return new Promise((resolve) => setImmediate(resolve));
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => {});
    this.#handshakes.handleUpgrade(request, socket, head, (webSocket) => this.#open(webSocket, socket));
  }

  #open(webSocket: WebSocket, socket: Socket): void {
    if (this.#options.acceptUnmaskedFrames === true) allowUnmaskedFrames(webSocket);
    const connection = new CarriedConnection({
      transport: TransportKind.webSocket,
      remoteAddress: addressOf(socket),
      space: this.#space,
      messageLengthMax: this.#messageLengthMax,
      closeGraceMs: this.#options.closeGraceMs,
      onGone: () => this.#forget(connection),
    });
    joinWebSocket(webSocket, socket, connection);
    const upgraded = new UpgradedSocket(socket, connection);
    webSocket.on("message", () => upgraded.noteMessage());
    for (const control of ["ping", "pong"] as const) {
      webSocket.on(control, (data: Buffer) => upgraded.noteControl(data.length));
    }
    this.#sockets.set(connection, upgraded);
    this.#options.onConnection(connection);
  }

  #noteRefusal(): void {
    this.#refused++;
    const nowMs = performance.now();
    if (nowMs - this.#refusalLoggedMs < REFUSAL_LOG_MS) return;
    this.#refusalLoggedMs = nowMs;
    const { connectionsMax, log } = this.#options;
    const facts = { connectionsMax, refused: this.#refused };
    log.warn("Refused a WebSocket connection: too many are open.", facts);
  }

  #forget(connection: CarriedConnection): void {
    this.#sockets.delete(connection);
    this.#letGoWhenQuiet();
  }

  /** Without connections no block is held; without a listener besides no timer runs. */
  #letGoWhenQuiet(): void {
    if (this.#sockets.size > 0) return;
    this.#space.release();
    if (this.#isClosed) clearInterval(this.#owedTimer);
  }

  #closeSlow(): void {
    const nowMs = performance.now();
    for (const [connection, upgraded] of this.#sockets) {
      if (upgraded.owesTooLong(nowMs, this.#owedMaxMs)) connection.close(tooSlow(this.#owedMaxMs));
    }
  }
}

/** An HTTP server that does nothing but handshakes. */
function createHttpServer({ tls, connectionsMax }: ListenWebSocketOptions): Server {
  const settings = {
    noDelay: true,
    headersTimeout: HANDSHAKE_MAX_MS,
    requestTimeout: HANDSHAKE_MAX_MS,
    connectionsCheckingInterval: HANDSHAKE_CHECK_MS,
    maxHeaderSize: HANDSHAKE_LENGTH_MAX,
  };
  const server: Server =
    tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...serverTlsOptions(tls) });
  server.maxConnections = connectionsMax;
  server.on("request", (_request, response) => {
    response.writeHead(426, { connection: "close", upgrade: "websocket", "content-type": "text/plain" });
    response.end("This port speaks WebSocket only.\n");
  });
  return server;
}

function addressOf(socket: Socket): string {
  const { remoteAddress = "", remotePort = 0 } = socket;
  return remoteAddress.includes(":") ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}

function tooSlow(owedMaxMs: number): CodedError {
  const text = "The peer took too long to send the rest of a message.";
  return new CodedError(ErrorCode.RequestTimeout, text, { details: { owedMaxMs } });
}

function cannotBind(host: string, port: number, cause: Error): CodedError {
  const text = `Cannot listen on ${host}:${port} (${systemCode(cause)}): is the port taken, the address ours?`;
  return new CodedError(ErrorCode.CannotBindToSocket, text, { details: { host, port }, cause });
}
