import type { CodedError } from "@millrace/errors";
import type { Lease, OpenedFrame } from "@millrace/framing";

/**
 * One replica's way to the other replicas of its cluster. Frames are those of `sealReplicaFrame`.
 *
 * Nothing is promised but this: a frame that arrives is whole, undamaged, of this cluster and from the
 * replica it names. Frames of one peer arrive in the order they were sent, as long as its connection lasts.
 * Any of them may be lost: what finds no connection or no room in the peer's queue is dropped and counted,
 * so that a peer that is slow or gone takes no memory. Whoever needs an answer asks again.
 */
export interface PeerBus {
  /** This replica's id. */
  readonly replica: number;
  /** Replicas of the cluster, this one included. */
  readonly replicaCount: number;
  /**
   * Queues one frame for a peer as parts, which are lent until `onDone`. That is called exactly once: when
   * the frame was written, or will never be; for a dropped frame before this returns.
   *
   * @returns whether it was queued; false when it was dropped
   */
  send(to: number, parts: readonly Uint8Array[], onDone?: () => void): boolean;
  /** True while the peer is connected. */
  isUp(replica: number): boolean;
  /**
   * Called once per frame. `frame` is views of the lease: retain it to keep them. The lease lies in the
   * memory of messages, but a short frame that came while that was full has bytes of its own (`position`
   * -1).
   */
  onFrame: (from: number, frame: OpenedFrame, frameLease: Lease) => void;
  /** A peer is connected, and has proved that it belongs here where that is asked for. */
  onPeerUp: (replica: number) => void;
  /** A peer is connected no longer. No error means that one of both closed on purpose. */
  onPeerDown: (replica: number, error?: CodedError) => void;
  /** Ends all connections and takes no new ones; what is queued is dropped. */
  close(): Promise<void>;
}
