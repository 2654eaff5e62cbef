import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { LeaseSource } from "@millrace/framing";
import { type Connection, TransportKind } from "@millrace/platform";
import { WebSocket } from "ws";
import { ExactSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { systemCode } from "../../connection-lost.ts";
import { certificateRefused } from "../../tls/certificate-refused.ts";
import { type ClientTls, tlsConnectOptions } from "../../tls/client-tls.ts";
import { joinWebSocket } from "../node/node-connection.ts";

/** Where to connect to and what to read into. */
export interface ConnectWebSocketOptions {
  readonly host: string;
  readonly port: number;
  /** `HeapLeases` for a client: one array per message. */
  readonly leases: LeaseSource;
  /** Longest message, header and body, in bytes. */
  readonly messageLengthMax: number;
  /** For the whole attempt, names looked up and the handshake included. */
  readonly timeoutMs: number;
  /** Connects with `wss`; without it `ws`. */
  readonly tls?: ClientTls;
  /** Gives the attempt up; has no effect on a connection that is open. */
  readonly signal?: AbortSignal;
}

/**
 * Opens one connection on the path `/`. Set its callbacks at once when the promise resolves: reading has
 * begun.
 *
 * @throws CodedError `CannotEstablishConnection` with host, port and cause, also after `timeoutMs`;
 *   `InvalidTlsCertificate` when the server's certificate is refused; `Aborted` by the signal
 */
export function connectWebSocket(options: ConnectWebSocketOptions): Promise<Connection> {
  const { timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(options));
    const webSocket = openWebSocket(options);
    let socket: Socket | undefined;
    const fail = (error: CodedError) => {
      settle();
      webSocket.on("error", () => {});
      webSocket.terminate();
      reject(error);
    };
    const onError = (error: Error) => fail(failureOf(error, options));
    const onAbort = () => fail(aborted(options));
    const timer = setTimeout(() => fail(cannotConnect(options, `no answer in ${timeoutMs} ms`)), timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      webSocket.off("error", onError);
    };
    signal?.addEventListener("abort", onAbort);
    webSocket.once("error", onError);
    webSocket.once("upgrade", (response: IncomingMessage) => {
      socket = response.socket;
    });
    webSocket.once("open", () => {
      settle();
      resolve(connected(webSocket, socket!, options));
    });
  });
}

function openWebSocket({ host, port, tls, messageLengthMax, timeoutMs }: ConnectWebSocketOptions): WebSocket {
  const scheme = tls === undefined ? "ws" : "wss";
  return new WebSocket(`${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}/`, {
    perMessageDeflate: false,
    maxPayload: messageLengthMax,
    handshakeTimeout: timeoutMs,
    ...(tls === undefined ? {} : tlsConnectOptions(tls)),
  });
}

function connected(webSocket: WebSocket, socket: Socket, options: ConnectWebSocketOptions): Connection {
  const { host, port, leases, messageLengthMax } = options;
  socket.setNoDelay(true);
  const connection = new CarriedConnection({
    transport: TransportKind.webSocket,
    remoteAddress: host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
    space: new ExactSpace(leases),
    messageLengthMax,
  });
  joinWebSocket(webSocket, socket, connection);
  socket.on("data", () => connection.readEnded());
  return connection;
}

function failureOf(error: Error, options: ConnectWebSocketOptions): CodedError {
  const reason = systemCode(error) || error.message;
  return certificateRefused(error, options) ?? cannotConnect(options, reason, error);
}

function cannotConnect(options: ConnectWebSocketOptions, reason: string, cause?: Error): CodedError {
  const { host, port } = options;
  const text = `Cannot connect to ${host}:${port} over WebSocket (${reason}).`;
  const details = { host, port };
  return new CodedError(
    ErrorCode.CannotEstablishConnection,
    text,
    cause === undefined ? { details } : { details, cause },
  );
}

function aborted({ host, port, signal }: ConnectWebSocketOptions): CodedError {
  const text = `Connecting to ${host}:${port} was given up.`;
  return new CodedError(ErrorCode.Aborted, text, { details: { host, port }, cause: signal?.reason });
}
