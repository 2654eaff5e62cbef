import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { TransportKind } from "@millrace/platform";
import { type WebSocket, WebSocketServer } from "ws";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { peerText } from "../../listening/addresses.ts";
import {
  type CountingListener,
  type ListenOptions,
  longestMessage,
  SocketListener,
} from "../../listening/socket-listener.ts";
import { HANDSHAKE_MAX_MS, serverTlsOptions } from "../../tls/server-tls.ts";
import { joinWebSocket } from "../node/node-connection.ts";
import { allowUnmaskedFrames } from "./unmasked-frames.ts";
import { FRAGMENTS_MAX, UpgradedSocket } from "./upgraded-socket.ts";

/** Slow handshakes are looked for so many times in the time they may take. */
const HANDSHAKE_CHECKS = 5;
/** Headers of the request that opens a WebSocket, in bytes; browsers send cookies along. */
const HANDSHAKE_LENGTH_MAX = 16_384;

/** An option of `ws` that its types do not know yet. */
const FRAGMENT_LIMIT = { maxFragments: FRAGMENTS_MAX };

/** Where to listen, what to read into and whom to tell. */
export interface ListenWebSocketOptions extends ListenOptions {
  /** Takes frames of clients that do not mask; the standard wants them refused. Default false. */
  readonly acceptUnmaskedFrames?: boolean;
}

/** A WebSocket listener with its counts. */
export type WebSocketListener = CountingListener;

/**
 * Listens for WebSockets on any path, without a subprotocol or compression.
 *
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 */
export async function listenWebSocket(options: ListenWebSocketOptions): Promise<WebSocketListener> {
  const messageLengthMax = longestMessage(options);
  const handshakes = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: messageLengthMax,
    ...FRAGMENT_LIMIT,
  });
  const server = createHttpServer(options);
  const listener = new SocketListener("WebSocket", options, server);
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on("error", () => {});
    handshakes.handleUpgrade(request, socket, head, (webSocket) => {
      if (options.acceptUnmaskedFrames === true) allowUnmaskedFrames(webSocket);
      const connection = new CarriedConnection({
        transport: TransportKind.webSocket,
        remoteAddress: peerText(socket),
        space: listener.space,
        messageLengthMax,
        closeGraceMs: options.closeGraceMs,
        onGone: () => listener.forget(connection),
      });
      joinWebSocket(webSocket, socket, connection);
      listener.add(connection, watched(webSocket, socket, connection));
    });
  });
  await listener.listen();
  return listener;
}

function watched(webSocket: WebSocket, socket: Socket, connection: CarriedConnection): UpgradedSocket {
  const upgraded = new UpgradedSocket(socket, connection);
  webSocket.on("message", () => upgraded.noteMessage());
  for (const control of ["ping", "pong"] as const) {
    webSocket.on(control, (data: Buffer) => upgraded.noteControl(data.length));
  }
  return upgraded;
}

/** An HTTP server that does nothing but handshakes. */
function createHttpServer(options: ListenWebSocketOptions): Server {
  const { tls, connectionsMax, handshakeMaxMs = HANDSHAKE_MAX_MS } = options;
  const settings = {
    noDelay: true,
    headersTimeout: handshakeMaxMs,
    requestTimeout: handshakeMaxMs,
    connectionsCheckingInterval: handshakeMaxMs / HANDSHAKE_CHECKS,
    maxHeaderSize: HANDSHAKE_LENGTH_MAX,
  };
  const server: Server =
    tls === undefined
      ? createServer(settings)
      : createTlsServer({ ...settings, ...serverTlsOptions(tls, handshakeMaxMs) });
  server.maxConnections = connectionsMax;
  server.on("request", (_request, response) => {
    response.writeHead(426, { connection: "close", upgrade: "websocket", "content-type": "text/plain" });
    response.end("This port speaks WebSocket only.\n");
  });
  return server;
}
