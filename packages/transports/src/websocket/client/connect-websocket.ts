import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { CodedError } from "@millrace/errors";
import { type Connection, TransportKind } from "@millrace/platform";
import { WebSocket } from "ws";
import { ExactSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { cannotConnect, connectingGivenUp } from "../../connect-failures.ts";
import type { ConnectOptions } from "../../connect-options.ts";
import { systemCode } from "../../connection-lost.ts";
import { addressText } from "../../listening/addresses.ts";
import { certificateRefused } from "../../tls/certificate-refused.ts";
import { type ClientTls, tlsConnectOptions } from "../../tls/client-tls.ts";
import { joinWebSocket } from "../node/node-connection.ts";

/** Where to connect to and what to read into. */
export interface ConnectWebSocketOptions extends ConnectOptions {
  /** Connects with `wss`; without it `ws`. */
  readonly tls?: ClientTls;
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
    if (signal?.aborted) return reject(connectingGivenUp(options));
    const webSocket = openWebSocket(options);
    let socket: Socket | undefined;
    const fail = (error: CodedError) => {
      settle();
      webSocket.on("error", () => {});
      webSocket.terminate();
      reject(error);
    };
    const onError = (error: Error) => fail(failureOf(error, options));
    const onAbort = () => fail(connectingGivenUp(options));
    const timer = setTimeout(
      () => fail(cannotConnect(options, { over: "WebSocket", reason: `no answer in ${timeoutMs} ms` })),
      timeoutMs,
    );
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
  return new WebSocket(`${scheme}://${addressText({ host, port })}/`, {
    perMessageDeflate: false,
    maxPayload: messageLengthMax,
    handshakeTimeout: timeoutMs,
    ...(tls === undefined ? {} : tlsConnectOptions(tls)),
  });
}

function connected(webSocket: WebSocket, socket: Socket, options: ConnectWebSocketOptions): Connection {
  const { leases, messageLengthMax } = options;
  socket.setNoDelay(true);
  const connection = new CarriedConnection({
    transport: TransportKind.webSocket,
    remoteAddress: addressText(options),
    space: new ExactSpace(leases),
    messageLengthMax,
  });
  joinWebSocket(webSocket, socket, connection);
  socket.on("data", () => connection.readEnded());
  return connection;
}

function failureOf(error: Error, options: ConnectWebSocketOptions): CodedError {
  const reason = systemCode(error) || error.message;
  return (
    certificateRefused(error, options) ?? cannotConnect(options, { over: "WebSocket", reason, cause: error })
  );
}
