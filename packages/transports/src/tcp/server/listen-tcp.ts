import net, { type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { onreadWorks, rebuildWithOnread } from "../../listening/onread-socket.ts";
import {
  type CountingListener,
  type ListenOptions,
  longestMessage,
  SocketListener,
} from "../../listening/socket-listener.ts";
import { serverTlsOptions } from "../../tls/server-tls.ts";
import { Landing } from "../landing.ts";
import { TcpConnection } from "../tcp-connection.ts";

/** Where to listen, what to read into and whom to tell. */
export interface ListenTcpOptions extends ListenOptions {
  /** Read straight into blocks; default where the self-test says that it works. */
  readonly useOnread?: boolean;
}

/** A TCP listener with its counts. */
export type TcpListener = CountingListener;

/**
 * Listens on TCP and hands over connections that carry whole messages.
 *
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 */
export async function listenTcp(options: ListenTcpOptions): Promise<TcpListener> {
  const { connectionsMax, closeGraceMs } = options;
  const useOnread = options.tls === undefined && (options.useOnread ?? (await onreadWorks()));
  const landing = useOnread ? new Landing() : undefined;
  const messageLengthMax = longestMessage(options);
  const server = createSocketServer(options, useOnread);
  const listener = new SocketListener("TCP", options, server);
  const onSocket = (socket: Socket) => {
    if (listener.connectionsOpen >= connectionsMax) {
      socket.on("error", () => {});
      socket.destroy();
      return listener.noteRefusal();
    }
    const connection = new TcpConnection({
      space: listener.space,
      messageLengthMax,
      closeGraceMs,
      onGone: () => listener.forget(connection),
    });
    if (landing === undefined) connection.attach(socket, true);
    else connection.attach(rebuildWithOnread(socket, connection.onread(landing)), false);
    listener.add(connection, connection);
  };
  server.on(options.tls === undefined ? "connection" : "secureConnection", onSocket);
  await listener.listen();
  return listener;
}

/** With TLS a socket is accepted once its handshake is done; those under way are bounded too. */
function createSocketServer(options: ListenTcpOptions, pauseOnConnect: boolean): net.Server {
  const { tls, connectionsMax, handshakeMaxMs } = options;
  if (tls === undefined) return net.createServer({ pauseOnConnect, noDelay: true });
  const server = createTlsServer({ ...serverTlsOptions(tls, handshakeMaxMs), noDelay: true });
  server.maxConnections = connectionsMax;
  // Node only tells of a handshake that took too long; without this its socket would stay open.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}
