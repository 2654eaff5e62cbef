import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { type Lease, type OpenedFrame, ReplicaCommand, sealReplicaFrame } from "@millrace/framing";
import { type Clock, openPeerFrame, type Timer } from "@millrace/platform";
import type { OwnSide } from "./handshake/handshake-side.ts";
import type { PeerSocket } from "./peer-socket.ts";

/** Frames that only a handshake or the link itself has a use for. */
const OF_HANDSHAKES: ReadonlySet<number> = new Set([
  ReplicaCommand.hello,
  ReplicaCommand.challenge,
  ReplicaCommand.finish,
]);

/** How a silent peer is found out. */
export interface KeepaliveTimes {
  /** A link on which nothing was sent for so long says that it is alive. */
  readonly keepaliveMs: number;
  /** A peer that said nothing for so long is gone. */
  readonly deadAfterMs: number;
}

/** What a link needs, and whom it tells. */
export interface PeerLinkOptions {
  readonly self: OwnSide;
  readonly clock: Clock;
  readonly times: KeepaliveTimes;
  readonly onFrame: (frame: OpenedFrame, frameLease: Lease) => void;
  /** Called once, last. */
  readonly onDown: (error?: CodedError) => void;
}

/**
 * The connection of one peer after its handshake: frames both ways, and signs of life when there are none.
 */
export class PeerLink {
  readonly peer: number;
  readonly socket: PeerSocket;
  readonly #options: PeerLinkOptions;
  #timer: Timer | undefined;
  #checkedAtMs: number;

  constructor(peer: number, socket: PeerSocket, options: PeerLinkOptions) {
    this.peer = peer;
    this.socket = socket;
    this.#options = options;
    this.#checkedAtMs = options.clock.monotonicMs();
    socket.onFrame = (frameLease) => this.#receive(frameLease);
    socket.onClose = (error) => {
      this.#timer?.cancel();
      options.onDown(error);
    };
    this.#plan();
  }

  /**
   * False for a peer that missed two of its signs of life: another connection may take its place. One that
   * we do not read has no way to show.
   */
  get isAlive(): boolean {
    const { clock, times } = this.#options;
    return this.socket.isHeldBack || clock.monotonicMs() - this.socket.receivedAtMs < 2 * times.keepaliveMs;
  }

  #receive(frameLease: Lease): void {
    const { self, onFrame } = this.#options;
    try {
      const frame = openPeerFrame(self.hash, frameLease.bytes, { cluster: self.cluster, peer: this.peer });
      if (OF_HANDSHAKES.has(frame.command)) throw handshakeIsOver(this.peer);
      if (frame.command !== ReplicaCommand.ping) onFrame(frame, frameLease);
    } catch (error) {
      if (!isCodedError(error, ErrorCode.ReplicaFrameInvalid)) throw error;
      this.socket.close(error);
    }
  }

  #plan(): void {
    const { clock, times } = this.#options;
    this.#timer = clock.setTimer(times.keepaliveMs, () => this.#check());
  }

  #check(): void {
    const { clock, times } = this.#options;
    const nowMs = clock.monotonicMs();
    // Whoever slept himself has to read first: what the peer said meanwhile lies in the socket.
    const hasSlept = nowMs - this.#checkedAtMs > 2 * times.keepaliveMs;
    this.#checkedAtMs = nowMs;
    const isSilent = nowMs - this.socket.receivedAtMs > times.deadAfterMs && !this.socket.isHeldBack;
    if (isSilent && !hasSlept) {
      this.socket.close(silent(this.peer, times.deadAfterMs));
      return;
    }
    if (nowMs - this.socket.sentAtMs >= times.keepaliveMs) this.#ping();
    this.#plan();
  }

  #ping(): void {
    const { hash, cluster, replica } = this.#options.self;
    const nothing = new Uint8Array(0);
    const ping = { command: ReplicaCommand.ping, view: 0, fields: nothing, payload: nothing };
    this.socket.send(sealReplicaFrame(hash, { ...ping, cluster, replica }));
  }
}

function handshakeIsOver(peer: number): CodedError {
  const text = `Replica ${peer} sent a frame of a handshake that is over.`;
  return new CodedError(ErrorCode.ReplicaFrameInvalid, text, { details: { reason: "handshake_over", peer } });
}

function silent(peer: number, deadAfterMs: number): CodedError {
  return new CodedError(ErrorCode.Disconnected, `Replica ${peer} said nothing for ${deadAfterMs} ms.`, {
    details: { peer, deadAfterMs },
  });
}
