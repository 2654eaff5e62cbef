import { CodedError, ErrorCode } from "@millrace/errors";
import { type Connection, TransportKind } from "@millrace/platform";
import { ExactSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { cannotConnect, connectingGivenUp } from "../../connect-failures.ts";
import type { ConnectOptions } from "../../connect-options.ts";
import { disconnected } from "../../connection-lost.ts";
import { addressText } from "../../listening/addresses.ts";
import { BrowserCarrier } from "./browser-carrier.ts";
import { type BrowserWebSocket, browserWebSocket } from "./browser-websocket.ts";

/** Where to connect to and what to read into. */
export interface ConnectBrowserWebSocketOptions extends ConnectOptions {
  /** Connects with `wss`; the browser checks the certificate in its own way. */
  readonly isEncrypted?: boolean;
}

/**
 * Opens one connection on the path `/`. A browser does not say why an attempt failed, so neither does the
 * error.
 *
 * @throws CodedError `CannotEstablishConnection` with host and port, also after `timeoutMs`;
 *   `Aborted` by the signal; `FeatureUnavailable` where the runtime has no WebSocket
 */
export function connectBrowserWebSocket(options: ConnectBrowserWebSocketOptions): Promise<Connection> {
  const { timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(connectingGivenUp(options));
    const webSocket = openWebSocket(options);
    const fail = (error: CodedError) => {
      settle();
      webSocket.close();
      reject(error);
    };
    const onAbort = () => fail(connectingGivenUp(options));
    const timer = setTimeout(
      () => fail(cannotConnect(options, { over: "WebSocket", reason: `no answer in ${timeoutMs} ms` })),
      timeoutMs,
    );
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      webSocket.onopen = webSocket.onclose = webSocket.onerror = null;
    };
    signal?.addEventListener("abort", onAbort);
    webSocket.onclose = () =>
      fail(cannotConnect(options, { over: "WebSocket", reason: "refused or unreachable" }));
    webSocket.onopen = () => {
      settle();
      resolve(connected(webSocket, options));
    };
  });
}

function openWebSocket({
  host,
  port,
  isEncrypted = false,
}: ConnectBrowserWebSocketOptions): BrowserWebSocket {
  const Constructor = browserWebSocket();
  if (Constructor === undefined) {
    throw new CodedError(ErrorCode.FeatureUnavailable, "This runtime has no WebSocket of its own.");
  }
  const authority = addressText({ host, port });
  const webSocket = new Constructor(`${isEncrypted ? "wss" : "ws"}://${authority}/`);
  webSocket.binaryType = "arraybuffer";
  return webSocket;
}

function connected(webSocket: BrowserWebSocket, options: ConnectBrowserWebSocketOptions): Connection {
  const { leases, messageLengthMax } = options;
  const connection = new CarriedConnection({
    transport: TransportKind.webSocket,
    remoteAddress: addressText(options),
    space: new ExactSpace(leases),
    messageLengthMax,
  });
  const carrier = new BrowserCarrier(webSocket, (message) => {
    connection.received(message);
    connection.readEnded();
  });
  connection.attach(carrier);
  webSocket.onmessage = ({ data }) => {
    if (data instanceof ArrayBuffer) carrier.received(new Uint8Array(data));
    else connection.close(textRefused());
  };
  webSocket.onclose = ({ wasClean }) => connection.closed(wasClean ? undefined : disconnected());
  return connection;
}

function textRefused(): CodedError {
  return new CodedError(ErrorCode.InvalidFormat, "A text message came; each message must be binary.");
}
