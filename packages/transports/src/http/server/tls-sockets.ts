import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/**
 * The sockets of a server with TLS, and which of them carry requests.
 *
 * Node counts them itself for servers of HTTP/1.1. One that also speaks HTTP/2 would wait at its end for
 * every client that keeps its connection.
 */
export class TlsSockets {
  readonly #all = new Set<Socket>();
  readonly #encrypted = new Set<TLSSocket>();
  readonly #busy = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => keepWhileOpen(this.#all, socket));
    server.on("secureConnection", (socket: TLSSocket) => keepWhileOpen(this.#encrypted, socket));
    server.on("session", (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.once("close", () => this.#sessions.delete(session));
    });
    server.on("request", ({ socket, httpVersionMajor }: IncomingMessage, response: ServerResponse) => {
      if (httpVersionMajor !== 1) return;
      this.#busy.add(socket);
      response.once("close", () => this.#busy.delete(socket));
    });
  }

  /** Closes what has no request under way, and connections of HTTP/2 once theirs are answered. */
  closeIdle(): void {
    for (const session of this.#sessions) session.close();
    for (const socket of this.#encrypted) {
      if (socket.alpnProtocol !== "h2" && !this.#busy.has(socket)) socket.destroy();
    }
  }

  /** Closes everything, handshakes that are under way included. */
  closeAll(): void {
    for (const socket of this.#all) socket.destroy();
  }
}

function keepWhileOpen<T extends Socket>(sockets: Set<T>, socket: T): void {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
}
