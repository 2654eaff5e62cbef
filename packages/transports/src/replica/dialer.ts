import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { CodedError } from "@millrace/errors";
import type { Timer } from "@millrace/platform";
import { disconnected } from "../connection-lost.ts";
import { addressText } from "../listening/addresses.ts";
import { certificateRefused } from "../tls/certificate-refused.ts";
import { dialPeer } from "./handshake/dial-peer.ts";
import { HANDSHAKE_FRAME_LENGTH_MAX } from "./handshake/handshake-frames.ts";
import { refusal } from "./handshake/refusal.ts";
import { PeerSocket } from "./peer-socket.ts";
import type { ReplicaBusParts } from "./replica-bus-options.ts";
import { ALPN, dialerTlsOptions } from "./replica-tls.ts";

/**
 * The first attempt after a loss comes after this part of the reconnect period; each one doubles, up to it.
 */
const FIRST_PART = 1 / 8;

/** Whom a dialer tells. */
export interface DialerEvents {
  /** The peer is there; set the socket's callbacks, and call `lost` when it closes. */
  readonly onPeer: (socket: PeerSocket) => void;
  readonly onFailure: (error: CodedError) => void;
}

/**
 * Keeps one peer connected: dials, and dials again, each time later, with some chance so that not all dial
 * at once.
 */
export class Dialer {
  readonly peer: number;
  readonly #parts: ReplicaBusParts;
  readonly #events: DialerEvents;
  #attempts = 0;
  #timer: Timer | undefined;
  /** The attempt that is neither linked nor lost. */
  #underWay: PeerSocket | undefined;
  #isClosed = false;

  constructor(peer: number, parts: ReplicaBusParts, events: DialerEvents) {
    this.peer = peer;
    this.#parts = parts;
    this.#events = events;
  }

  /** Dials now. */
  dial(): void {
    const { handshakeMs, clock, self } = this.#parts;
    const { socket, onOpen } = this.#open();
    this.#underWay = socket;
    const timer = clock.setTimer(handshakeMs, () =>
      socket.close(refusal("too_slow", { replica: this.peer })),
    );
    socket.onClose = (error) => {
      timer.cancel();
      this.#events.onFailure(this.#failureOf(error));
      this.lost();
    };
    onOpen(() =>
      dialPeer(socket, self, this.peer, () => {
        timer.cancel();
        this.#attempts = 0;
        this.#underWay = undefined;
        socket.limit(this.#parts.frameLengthMax);
        this.#events.onPeer(socket);
      }),
    );
  }

  /** The connection ended: dials again after a while. */
  lost(): void {
    this.#underWay = undefined;
    if (this.#isClosed) return;
    const { reconnectMs, clock, self } = this.#parts;
    const delayMs = reconnectMs * Math.min(1, FIRST_PART * 2 ** this.#attempts);
    this.#attempts++;
    this.#timer = clock.setTimer(delayMs * (0.5 + self.random.fraction() / 2), () => this.dial());
  }

  /** Dials no more; an attempt under way is given up. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#underWay?.close(disconnected());
  }

  #failureOf(error: CodedError | undefined): CodedError {
    if (error === undefined) return refusal("no_replica", { replica: this.peer, wire: "closed" });
    const { cause } = error;
    const certificate =
      cause instanceof Error ? certificateRefused(cause, this.#parts.addressOf(this.peer)) : undefined;
    return certificate ?? error;
  }

  /** A socket that connects; the callback of `onOpen` runs once it has, and with TLS is for replicas. */
  #open(): { socket: PeerSocket; onOpen: (callback: () => void) => void } {
    const { tls, addressOf, landing } = this.#parts;
    const address = addressOf(this.peer);
    const peerSocket = new PeerSocket(this.#parts.socketOptions);
    peerSocket.limit(HANDSHAKE_FRAME_LENGTH_MAX);
    const socket =
      tls === undefined
        ? connect({ ...address, ...(landing === undefined ? {} : { onread: peerSocket.onread(landing) }) })
        : connectTls({ ...address, ...dialerTlsOptions(tls) });
    peerSocket.attach(socket, tls !== undefined || landing === undefined);
    peerSocket.remoteAddress = addressText(address);
    const onOpen = (callback: () => void) =>
      socket.once(tls === undefined ? "connect" : "secureConnect", () => {
        const isForReplicas = peerSocket.tls === undefined || peerSocket.tls.alpnProtocol === ALPN;
        if (isForReplicas) callback();
        else peerSocket.close(refusal("other_channel", { replica: this.peer }));
      });
    return { socket: peerSocket, onOpen };
  }
}
