import { assert, type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Lease, OpenedFrame } from "@millrace/framing";
import type { PeerBus } from "@millrace/platform";
import { onreadWorks } from "../listening/onread-socket.ts";
import { Acceptor } from "./acceptor.ts";
import { Dialer } from "./dialer.ts";
import { FrameSpace } from "./frame-space.ts";
import { type RefusalReason, refusal } from "./handshake/refusal.ts";
import { declareReplicaBusMetrics, type ReplicaBusMetrics } from "./metrics.ts";
import { PeerLink } from "./peer-link.ts";
import type { PeerSocket } from "./peer-socket.ts";
import type { ReplicaBusOptions, ReplicaBusParts } from "./replica-bus-options.ts";
import { SparseLog } from "./sparse-log.ts";

/** What one read of a connection between long frames may bring, as on TCP. */
const LANDING_LENGTH = 65_536;

/** Frames that may wait for one peer: a second of small ones, beyond which it asks again anyway. */
const QUEUE_FRAMES_MAX = 4096;

/** Longest frames that may wait for one peer: one that is being written, and the next. */
const LONGEST_FRAMES_QUEUED = 2;

const RECONNECT_MS = 1000;
const HANDSHAKE_MS = 10_000;
const CLOSE_GRACE_MS = 2000;

/** A sign of life each second; five missed ones are no hiccup, and a view change does not wait for them. */
const TIMES = { keepaliveMs: 1000, deadAfterMs: 5000 };

/**
 * The bus over TCP. Of two replicas the one with the lower id dials, so there is one connection between them.
 *
 * A second connection with the id of a peer is refused while the first is alive, and takes its place when the
 * peer missed two signs of life: a machine that lost its power cannot close what it had.
 */
export class ReplicaBus implements PeerBus {
  readonly replica: number;
  readonly replicaCount: number;
  onFrame: (from: number, frame: OpenedFrame, frameLease: Lease) => void = () => {};
  onPeerUp: (replica: number) => void = () => {};
  onPeerDown: (replica: number, error?: CodedError) => void = () => {};
  readonly #options: ReplicaBusOptions;
  readonly #space: FrameSpace;
  readonly #metrics: ReplicaBusMetrics;
  readonly #sparse: SparseLog;
  readonly #links = new Map<number, PeerLink>();
  #dialers: readonly Dialer[] = [];
  #acceptor: Acceptor | undefined;
  #isClosed = false;
  #onQuiet: () => void = () => {};
  /** What each unreachable peer was last said to lack, so that it is said once. */
  readonly #failures = new Map<number, string>();

  constructor(options: ReplicaBusOptions) {
    const { replica, replicaCount, keys, tls } = options;
    assert(replica < replicaCount, "a replica is one of its cluster");
    assert(tls === undefined || keys !== undefined, "TLS between replicas comes with a shared secret");
    this.replica = replica;
    this.replicaCount = replicaCount;
    this.#options = options;
    this.#space = new FrameSpace(options.leases);
    this.#sparse = new SparseLog(options.log, options.clock);
    this.#metrics = declareReplicaBusMetrics(options.metrics, {
      peersConnected: () => this.#links.size,
      framesQueued: () => [...this.#links.values()].reduce((sum, { socket }) => sum + socket.framesQueued, 0),
    });
  }

  /** The port that is bound; 0 before `listen`. */
  get port(): number {
    return this.#acceptor?.port ?? 0;
  }

  /**
   * Opens the port and begins to dial. Set the callbacks before.
   * @throws CodedError CannotBindToSocket, InvalidTlsCertificate
   */
  async listen(): Promise<void> {
    const parts = partsOf(this.#options, this.#space, await onreadWorks());
    this.#acceptor = new Acceptor(parts, {
      isConnected: (peer) => this.#links.get(peer)?.isAlive ?? false,
      onPeer: (peer, socket) => this.#link(peer, socket, () => {}),
      onRefused: (error, remoteAddress) => this.#noteRefused(error, remoteAddress),
    });
    await this.#acceptor.listen();
    const higher = Array.from({ length: this.replicaCount }, (_, id) => id).slice(this.replica + 1);
    this.#dialers = higher.map((peer) => {
      const dialer = new Dialer(peer, parts, {
        onPeer: (socket) => this.#link(peer, socket, () => dialer.lost()),
        onFailure: (error) => this.#noteFailure(peer, error),
      });
      return dialer;
    });
    for (const dialer of this.#dialers) dialer.dial();
  }

  send(to: number, parts: readonly Uint8Array[], onDone?: () => void): boolean {
    const link = this.#links.get(to);
    if (link === undefined || link.socket.isClosing) {
      this.#metrics.droppedDown.add(1);
      onDone?.();
      return false;
    }
    const before = link.socket.bytesSent;
    const isQueued = link.socket.send(parts, onDone);
    if (isQueued) {
      this.#metrics.framesSent.add(1);
      this.#metrics.bytesSent.add(link.socket.bytesSent - before);
    } else {
      this.#metrics.droppedFull.add(1);
      this.#sparse.warn(`full ${to}`, "Frames for a replica are dropped: its queue is full.", { peer: to });
    }
    return isQueued;
  }

  isUp(replica: number): boolean {
    return this.#links.has(replica);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#acceptor?.close();
    for (const dialer of this.#dialers) dialer.close();
    for (const { socket } of this.#links.values()) socket.close();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      this.#settleWhenQuiet();
    });
  }

  #link(peer: number, socket: PeerSocket, onLost: () => void): void {
    this.#replaceSilent(peer);
    const link = new PeerLink(peer, socket, {
      self: ownSide(this.#options),
      clock: this.#options.clock,
      times: this.#options.times ?? TIMES,
      onFrame: (frame, frameLease) => this.#receive(peer, frame, frameLease),
      onDown: (error) => {
        this.#unlink(link, error);
        onLost();
      },
    });
    this.#links.set(peer, link);
    this.#failures.delete(peer);
    this.#options.log.info("A replica is connected.", { peer, address: socket.remoteAddress });
    this.onPeerUp(peer);
  }

  /** The peer's old connection, which says nothing any longer, makes room for its new one. */
  #replaceSilent(peer: number): void {
    const old = this.#links.get(peer);
    if (old === undefined) return;
    const error = refusal("already_connected", { replica: peer });
    this.#links.delete(peer);
    old.socket.close(error);
    this.onPeerDown(peer, error);
  }

  #unlink(link: PeerLink, error: CodedError | undefined): void {
    const { peer } = link;
    if (isCodedError(error, ErrorCode.ReplicaFrameInvalid)) this.#metrics.framesInvalid.add(1);
    this.#metrics.connectionsLost.add(1);
    if (this.#links.get(peer) === link) {
      this.#links.delete(peer);
      const facts = { peer, reason: error?.message ?? "closed", ...error?.details };
      if (!this.#isClosed) this.#options.log.warn("A replica is not connected any longer.", facts);
      this.onPeerDown(peer, error);
    }
    this.#settleWhenQuiet();
  }

  #receive(peer: number, frame: OpenedFrame, frameLease: Lease): void {
    this.#metrics.framesReceived.add(1);
    this.#metrics.bytesReceived.add(frameLease.length);
    this.onFrame(peer, frame, frameLease);
  }

  #noteRefused(error: CodedError, remoteAddress: string): void {
    if (this.#isClosed) return;
    const reason = error.details["reason"] as RefusalReason;
    this.#metrics.refused[reason].add(1);
    const facts = { ...error.details, from: remoteAddress, why: error.message };
    this.#sparse.warn(`refused ${reason}`, "A connection to the replica port was refused.", facts);
  }

  #noteFailure(peer: number, error: CodedError): void {
    if (this.#isClosed) return;
    const { reason } = error.details as { reason?: RefusalReason };
    if (isCodedError(error, ErrorCode.ReplicaRefused) && reason !== undefined) {
      this.#metrics.refused[reason].add(1);
    }
    if (this.#failures.get(peer) === error.message) return;
    this.#failures.set(peer, error.message);
    const facts = { peer, address: this.#options.addressOf(peer), ...error.details, why: error.message };
    this.#options.log.warn("A replica cannot be connected; trying on.", facts);
  }

  #settleWhenQuiet(): void {
    if (!this.#isClosed || this.#links.size > 0) return;
    this.#space.release();
    this.#onQuiet();
  }
}

function ownSide(options: ReplicaBusOptions) {
  const { replica, replicaCount, cluster, hash, random, keys, tls, dataKey } = options;
  return { replica, replicaCount, cluster, hash, random, keys, isEncrypted: tls !== undefined, dataKey };
}

function partsOf(options: ReplicaBusOptions, space: FrameSpace, useOnread: boolean): ReplicaBusParts {
  const { listen, addressOf, frameLengthMax, clock, log, tls } = options;
  const bounds = {
    framesMax: options.queueFramesMax ?? QUEUE_FRAMES_MAX,
    lengthMax: LONGEST_FRAMES_QUEUED * frameLengthMax,
  };
  return {
    self: ownSide(options),
    listen,
    addressOf,
    frameLengthMax,
    socketOptions: {
      space,
      frameLengthMax,
      bounds,
      clock,
      closeGraceMs: options.closeGraceMs ?? CLOSE_GRACE_MS,
    },
    landing: useOnread ? new Uint8Array(LANDING_LENGTH) : undefined,
    clock,
    log,
    tls,
    reconnectMs: options.reconnectMs ?? RECONNECT_MS,
    handshakeMs: options.handshakeMs ?? HANDSHAKE_MS,
  };
}
