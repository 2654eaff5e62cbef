import { type CodedError, isCodedError } from "@millrace/errors";
import { type FrameHash, HeapLeases } from "@millrace/framing";
import type { PeerBus } from "../peer-bus.ts";
import { openPeerFrame } from "../peer-frame.ts";

/** One frame on its way. */
export interface Packet {
  readonly from: number;
  readonly to: number;
  /** A copy, which the network may damage. */
  readonly bytes: Uint8Array;
}

/** How simulated replicas are connected. */
export interface SimPeerBusOptions {
  readonly replicaCount: number;
  readonly cluster: bigint;
  readonly hash: FrameHash;
  /**
   * What becomes of a packet: calls `deliver` later, once; never, when it is lost; again, when it is
   * repeated. Default: once, as a microtask, in the order of sends.
   */
  readonly network?: (packet: Packet, deliver: () => void) => void;
  /** A packet arrived that nobody can use; on a real network its connection would end. */
  readonly onRefused?: (packet: Packet, error: CodedError) => void;
}

/** The buses of replicas in one thread. */
export interface SimPeerBuses {
  /** Replica 0's first. */
  readonly buses: readonly PeerBus[];
  /**
   * Connects two replicas or takes their connection away; both hear of it before this returns. All are
   * connected from the start, without being told. What is on its way arrives all the same.
   */
  setLink(one: number, other: number, isUp: boolean): void;
}

/**
 * Makes buses that check every frame as real ones do. What is sent is copied at once, so parts are back at
 * once.
 */
export function createSimPeerBuses(options: SimPeerBusOptions): SimPeerBuses {
  const { replicaCount, network = (_packet, deliver) => queueMicrotask(deliver) } = options;
  const cut = new Set<string>();
  const buses: PeerBus[] = [];
  const isUp = (one: number, other: number) =>
    one !== other && Math.max(one, other) < replicaCount && !cut.has(linkName(one, other));
  const setLink = (one: number, other: number, up: boolean) => {
    if (one === other || isUp(one, other) === up) return;
    if (up) cut.delete(linkName(one, other));
    else cut.add(linkName(one, other));
    for (const [self, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      if (up) buses[self]?.onPeerUp(peer);
      else buses[self]?.onPeerDown(peer);
    }
  };
  for (let replica = 0; replica < replicaCount; replica++) {
    buses.push({
      replica,
      replicaCount,
      send(to, parts, onDone) {
        const isSent = isUp(replica, to);
        if (isSent) {
          const packet = { from: replica, to, bytes: joined(parts) };
          network(packet, () => deliver(packet, buses, options));
        }
        onDone?.();
        return isSent;
      },
      isUp: (other) => isUp(replica, other),
      onFrame() {},
      onPeerUp() {},
      onPeerDown() {},
      close() {
        for (let other = 0; other < replicaCount; other++) setLink(replica, other, false);
        return Promise.resolve();
      },
    });
  }
  return { buses, setLink };
}

function deliver(packet: Packet, buses: readonly PeerBus[], options: SimPeerBusOptions): void {
  const { from, to, bytes } = packet;
  const lease = new HeapLeases().allocate(bytes.length);
  lease.bytes.set(bytes);
  try {
    const frame = openPeerFrame(options.hash, lease.bytes, { cluster: options.cluster, peer: from });
    buses[to]?.onFrame(from, frame, lease);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    options.onRefused?.(packet, error);
  }
}

function linkName(one: number, other: number): string {
  return one < other ? `${one}-${other}` : `${other}-${one}`;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
