import { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { CodedError } from "@millrace/errors";
import type { Connection } from "@millrace/platform";
import { ExactSpace } from "../../assembly/message-space.ts";
import { cannotConnect, connectingGivenUp } from "../../connect-failures.ts";
import type { ConnectOptions } from "../../connect-options.ts";
import { systemCode } from "../../connection-lost.ts";
import { certificateRefused } from "../../tls/certificate-refused.ts";
import { type ClientTls, tlsConnectOptions } from "../../tls/client-tls.ts";
import { TcpConnection } from "../tcp-connection.ts";

/** Where to connect to and what to read into. */
export interface ConnectTcpOptions extends ConnectOptions {
  /** Send small writes at once; default true. */
  readonly noDelay?: boolean;
  /** Encrypts the connection and checks the server; without it everything goes in clear. */
  readonly tls?: ClientTls;
}

/**
 * Opens one connection. Set its callbacks at once when the promise resolves: reading has begun.
 *
 * @throws CodedError `CannotEstablishConnection` with host, port and cause, also after `timeoutMs`;
 *   `InvalidTlsCertificate` when the server's certificate is refused; `Aborted` by the signal
 */
export function connectTcp(options: ConnectTcpOptions): Promise<Connection> {
  const { timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(connectingGivenUp(options));
    const socket: Socket = openSocket(options, () => {
      settle();
      resolve(connected(socket, options));
    });
    const fail = (error: CodedError) => {
      settle();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const onError = (error: Error) =>
      fail(
        certificateRefused(error, options) ??
          cannotConnect(options, { reason: systemCode(error), cause: error }),
      );
    const onAbort = () => fail(connectingGivenUp(options));
    const timer = setTimeout(
      () => fail(cannotConnect(options, { reason: `no answer in ${timeoutMs} ms` })),
      timeoutMs,
    );
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      socket.off("error", onError);
    };
    signal?.addEventListener("abort", onAbort);
    socket.once("error", onError);
  });
}

/** A socket that connects; `onOpen` is called when the peer is there and, with TLS, has proved itself. */
function openSocket(options: ConnectTcpOptions, onOpen: () => void): Socket {
  const { host, port, tls, noDelay = true } = options;
  if (tls !== undefined) return connectTls({ host, port, ...tlsConnectOptions(tls) }, onOpen);
  return new Socket().connect({ host, port, noDelay }, onOpen);
}

function connected(socket: Socket, options: ConnectTcpOptions): Connection {
  const { leases, messageLengthMax, noDelay = true } = options;
  const connection = new TcpConnection({ space: new ExactSpace(leases), messageLengthMax });
  connection.attach(socket, true);
  socket.setNoDelay(noDelay);
  return connection;
}
