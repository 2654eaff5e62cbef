import net, { type AddressInfo, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { type CodedError, ErrorCode } from "@millrace/errors";
import { disconnected, systemCode } from "../connection-lost.ts";
import { addressText, cannotBind, peerText } from "../listening/addresses.ts";
import { rebuildWithOnread } from "../listening/onread-socket.ts";
import { serverTlsOptions } from "../tls/server-tls.ts";
import { acceptPeer } from "./handshake/accept-peer.ts";
import { HANDSHAKE_FRAME_LENGTH_MAX } from "./handshake/handshake-frames.ts";
import { refusal } from "./handshake/refusal.ts";
import { PeerSocket } from "./peer-socket.ts";
import type { ReplicaBusParts } from "./replica-bus-options.ts";
import { ALPN, replicaTlsOptions } from "./replica-tls.ts";

/**
 * Connections that have not proved themselves, at once: as many as a roster may have replicas, all of which
 * may come back in the same moment. One more ends the oldest of them, which had the most time.
 */
const HANDSHAKES_MAX = 32;

/** Whom an acceptor asks and tells. */
export interface AcceptorEvents {
  readonly isConnected: (replica: number) => boolean;
  /** The peer is there; set the socket's callbacks. */
  readonly onPeer: (replica: number, socket: PeerSocket) => void;
  readonly onRefused: (error: CodedError, remoteAddress: string) => void;
}

/** The replica port: takes connections of replicas with lower ids, and of nobody else. */
export class Acceptor {
  readonly #parts: ReplicaBusParts;
  readonly #events: AcceptorEvents;
  readonly #server: net.Server;
  /** Handshakes under way, the oldest first. */
  readonly #underWay = new Set<PeerSocket>();
  /** Sockets in the TLS handshake, by the address of the other side, the oldest first. */
  readonly #encrypting = new Map<string, Socket>();
  #port = 0;

  /** @throws CodedError InvalidTlsCertificate when certificate and key are no pair */
  constructor(parts: ReplicaBusParts, events: AcceptorEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#server = parts.tls === undefined ? this.#plainServer() : this.#tlsServer();
  }

  /** The port that is bound. */
  get port(): number {
    return this.#port;
  }

  /** @throws CodedError CannotBindToSocket */
  listen(): Promise<void> {
    const { listen, log } = this.#parts;
    return new Promise((resolve, reject) => {
      const onError = (error: Error) => reject(cannotBind(listen, error));
      this.#server.once("error", onError);
      this.#server.listen(listen, () => {
        this.#server.off("error", onError);
        this.#server.on("error", (error) => {
          log.error("The replica port failed.", { error: systemCode(error) });
        });
        this.#port = (this.#server.address() as AddressInfo).port;
        log.info("The replica port is open.", { address: addressText({ ...listen, port: this.#port }) });
        resolve();
      });
    });
  }

  /** Takes no more connections and ends those that are not proved. */
  close(): void {
    this.#server.close();
    for (const socket of this.#encrypting.values()) socket.destroy();
    for (const socket of this.#underWay) socket.close(disconnected());
  }

  #plainServer(): net.Server {
    const { landing } = this.#parts;
    const server = net.createServer({ pauseOnConnect: landing !== undefined, noDelay: true });
    server.on("connection", (socket) => this.#accept(socket));
    return server;
  }

  #tlsServer(): net.Server {
    const tls = this.#parts.tls!;
    const checked = serverTlsOptions(tls, this.#parts.handshakeMs);
    const server = createTlsServer({ ...checked, ...replicaTlsOptions(tls), noDelay: true });
    server.on("connection", (socket) => this.#noteEncrypting(socket));
    server.on("secureConnection", (socket) => {
      this.#encrypting.delete(peerText(socket));
      if (socket.alpnProtocol === ALPN) return this.#accept(socket);
      socket.destroy();
      this.#refuse(refusal("other_channel"), peerText(socket));
    });
    server.on("tlsClientError", (error, socket) => {
      socket.destroy();
      this.#refuse(refusal("other_channel", { tls: systemCode(error) }, error), peerText(socket));
    });
    return server;
  }

  #noteEncrypting(socket: Socket): void {
    const address = peerText(socket);
    const [oldest] = this.#encrypting.size < HANDSHAKES_MAX ? [] : this.#encrypting;
    if (oldest !== undefined) {
      oldest[1].destroy();
      this.#encrypting.delete(oldest[0]);
      this.#refuse(refusal("too_many"), oldest[0]);
    }
    this.#encrypting.set(address, socket);
    socket.once("close", () => this.#encrypting.delete(address));
  }

  #accept(socket: Socket): void {
    const { landing, handshakeMs, clock, self, socketOptions, frameLengthMax, tls } = this.#parts;
    this.#makeRoom();
    const peerSocket = new PeerSocket(socketOptions);
    peerSocket.limit(HANDSHAKE_FRAME_LENGTH_MAX);
    if (landing === undefined || tls !== undefined) peerSocket.attach(socket, true);
    else peerSocket.attach(rebuildWithOnread(socket, peerSocket.onread(landing)), false);
    this.#underWay.add(peerSocket);
    const timer = clock.setTimer(handshakeMs, () => peerSocket.close(refusal("too_slow")));
    const settle = () => {
      timer.cancel();
      this.#underWay.delete(peerSocket);
    };
    peerSocket.onClose = (error) => {
      settle();
      this.#refuse(error ?? refusal("no_replica", { wire: "closed" }), peerSocket.remoteAddress);
    };
    acceptPeer(peerSocket, self, {
      isConnected: this.#events.isConnected,
      onPeer: (replica) => {
        settle();
        peerSocket.limit(frameLengthMax);
        this.#events.onPeer(replica, peerSocket);
      },
    });
  }

  #makeRoom(): void {
    if (this.#underWay.size < HANDSHAKES_MAX) return;
    const [oldest] = this.#underWay;
    oldest?.close(refusal("too_many"));
  }

  /** What is no refusal yet came from the framing or the socket: no replica talks like that. */
  #refuse(error: CodedError, remoteAddress: string): void {
    const isRefusal = error.code === ErrorCode.ReplicaRefused;
    this.#events.onRefused(isRefusal ? error : refusal("no_replica", error.details, error), remoteAddress);
  }
}
