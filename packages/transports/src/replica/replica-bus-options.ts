import type { FrameHash, LeaseSource } from "@millrace/framing";
import type { Clock, Log, Metrics, Random } from "@millrace/platform";
import type { Address } from "../listening/addresses.ts";
import type { ChannelKeys } from "./handshake/channel-keys.ts";
import type { DataKey } from "./handshake/data-key.ts";
import type { OwnSide } from "./handshake/handshake-side.ts";
import type { KeepaliveTimes } from "./peer-link.ts";
import type { PeerSocketOptions } from "./peer-socket.ts";
import type { ReplicaTls } from "./replica-tls.ts";

/** Who this replica is, where the others are, and what its bus may use. */
export interface ReplicaBusOptions {
  readonly replica: number;
  readonly replicaCount: number;
  /** From `clusterIdOf`. */
  readonly cluster: bigint;
  /** Where to listen; port 0 takes a free one. */
  readonly listen: Address;
  /** Where a peer listens; asked for each attempt. */
  readonly addressOf: (replica: number) => Address;
  /** Checks and makes the seals of frames; the kernel over the memory of `leases`. */
  readonly hash: FrameHash;
  readonly leases: LeaseSource;
  /** Longest frame in bytes, head included. */
  readonly frameLengthMax: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** From `loadChannelKeys`; without, peers are taken at their word. */
  readonly keys?: ChannelKeys | undefined;
  /** From `loadDataKey`, when this node encrypts its messages at rest: then all of them do, with this key. */
  readonly dataKey?: DataKey | undefined;
  /** Needs `keys`. */
  readonly tls?: ReplicaTls | undefined;
  /** Frames that may wait for one peer; default 4096. */
  readonly queueFramesMax?: number;
  /** Longest time between two attempts to connect; default 1 s. */
  readonly reconnectMs?: number;
  /** How long a handshake may take, connecting included; default 10 s. */
  readonly handshakeMs?: number;
  /** How long a peer may take to close after we did; default 2 s. */
  readonly closeGraceMs?: number;
  /** Default: a sign of life each second, and 5 s of patience. */
  readonly times?: KeepaliveTimes;
}

/** What the parts of one bus share. */
export interface ReplicaBusParts {
  readonly self: OwnSide;
  readonly listen: Address;
  readonly addressOf: (replica: number) => Address;
  readonly frameLengthMax: number;
  readonly socketOptions: PeerSocketOptions;
  /** What reads of all connections go to between long frames; undefined where `onread` does not work. */
  readonly landing: Uint8Array | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly tls: ReplicaTls | undefined;
  readonly reconnectMs: number;
  readonly handshakeMs: number;
}
