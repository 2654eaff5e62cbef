import { ErrorCode, isCodedError } from "@millrace/errors";
import type { FrameHash, GroupAddress, Lease, OpenedFrame } from "@millrace/framing";
import type { Log } from "@millrace/platform";
import {
  decodeReplicaMessage,
  encodeReplicaMessage,
  ForwardOutcome,
  type GroupMessage,
  type PartitionRange,
  type StateMessage,
  type VouchedSession,
  type ReplicaMessage as WireMessage,
} from "@millrace/protocol";
import type { PartitionIdentity } from "@millrace/storage";
import type { ReplicaMessage } from "@millrace/vsr";
import type {
  ForwardedAnswer,
  ForwardedRequest,
  ForwardingWire,
} from "../metadata-plane/forwarded-requests.ts";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import type { ForwardedOp, ForwardedOpWire } from "../partition-plane/forwarding/forwarded-op.ts";
import type { ReceivedBody } from "../partition-plane/partition-replication.ts";
import type { ClusterOptions } from "./cluster-options.ts";
import { GatheredCommits } from "./gathered-commits.ts";
import type { GroupPeers } from "./group-peers.ts";
import type { NodeStandings, StandingsWire } from "./group-standings.ts";
import {
  forwardedOpMessage,
  forwardedOpOf,
  opAnswerMessage,
  opAnswerOf,
  type SaidOfOp,
} from "./op-messages.ts";

/** Who hears what the other nodes say. Bodies and their leases are lent for the call. */
export interface PeerListeners {
  metadata(from: number, message: ReplicaMessage): void;
  partition(
    identity: PartitionIdentity,
    from: number,
    message: ReplicaMessage,
    body: ReceivedBody | undefined,
  ): void;
  formation(from: number, starts: readonly number[]): void;
  forwardedRequest(from: number, request: ForwardedRequest): void;
  forwardedAnswer(from: number, answer: ForwardedAnswer): void;
  state(from: number, group: GroupAddress, message: StateMessage): void;
  forwardedOp(from: number, identity: PartitionIdentity, op: ForwardedOp, body: ReceivedBody): void;
  forwardedOpAnswer(from: number, identity: PartitionIdentity, said: SaidOfOp): void;
  vouch(from: number, sessions: readonly VouchedSession[]): void;
  standingsRequest(from: number, id: number, range: PartitionRange | undefined): void;
  standings(from: number, id: number, standings: NodeStandings): void;
  peerDown(peer: number): void;
}

const METADATA_GROUP: GroupAddress = { kind: "metadata" };

/** The other nodes of the cluster: what is said to them and what they say, by group. */
export class Peers {
  readonly #options: ClusterOptions;
  readonly #hash: FrameHash;
  readonly #log: Log;
  /** Differs between two starts, see `ReplicaOptions.seed`. */
  readonly #seed: number;
  /** What was said last. */
  #latest: SaidFrame | undefined;
  /** What groups say of their commits in this tick. */
  #commits: GatheredCommits | undefined;

  constructor(options: ClusterOptions, parts: { hash: FrameHash; log: Log; seed: number }) {
    this.#options = options;
    this.#hash = parts.hash;
    this.#log = parts.log;
    this.#seed = parts.seed;
  }

  /** This node's replica id. */
  get replica(): number {
    return this.#options.bus.replica;
  }

  /** A u32 that differs between two starts of this node. */
  get seed(): number {
    return this.#seed;
  }

  /** Nodes of the cluster, this one included. */
  get replicaCount(): number {
    return this.#options.bus.replicaCount;
  }

  /** Hands over what arrives from now on. */
  listen(listeners: PeerListeners): void {
    const { bus } = this.#options;
    bus.onFrame = (from, frame, lease) => this.#onFrame(listeners, from, { frame, lease });
    bus.onPeerDown = (peer) => listeners.peerDown(peer);
  }

  /** Nothing that arrives is handed over any more. */
  stop(): void {
    const { bus } = this.#options;
    bus.onFrame = () => {};
    bus.onPeerDown = () => {};
  }

  /** The metadata group's replicas on the other nodes, and the way of forwarded requests. */
  metadataGroup(): GroupPeers & ForwardingWire {
    return {
      ...this.#group(METADATA_GROUP),
      sendRequest: (to, { id: forward, ...request }) =>
        this.#sendOut(to, METADATA_GROUP, {
          ...{ kind: "forwardedRequest", view: 0, replica: this.#options.bus.replica, forward },
          ...request,
        }),
      sendAnswer: (to, { id, answer }) => {
        this.#sendOut(to, METADATA_GROUP, {
          ...{ kind: "forwardedReply", replica: this.#options.bus.replica, forward: id },
          ...wireAnswer(answer),
        });
      },
    };
  }

  /** Tells a node which starts of empty directories this one has heard of. */
  sendFormation(to: number, starts: readonly number[]): void {
    const { replica } = this.#options.bus;
    this.#sendOut(to, METADATA_GROUP, { kind: "formation", view: 0, replica, starts });
  }

  /** Tells a node which sessions are connected to this one; 1024 at most, see `VOUCHED_SESSIONS_MAX`. */
  sendVouch(to: number, sessions: readonly VouchedSession[]): void {
    const { replica } = this.#options.bus;
    this.#sendOut(to, METADATA_GROUP, { kind: "vouch", view: 0, replica, sessions });
  }

  /** Sends a message about the state of a group, as far as there is room: it may be lost. */
  sendState(to: number, group: GroupAddress, message: StateMessage): void {
    this.#sendOut(to, group, message);
  }

  /** The way of questions where nodes stand, and of their answers. */
  standingsWire(): StandingsWire {
    const { replica } = this.#options.bus;
    const head = { view: 0, replica };
    return {
      sendStandingsRequest: (to, forward, range) =>
        this.#sendOut(to, METADATA_GROUP, { kind: "standingsRequest", ...head, forward, range }),
      sendStandings: (to, forward, standings) => {
        this.#sendOut(to, METADATA_GROUP, { kind: "standingsReply", ...head, forward, ...standings });
      },
    };
  }

  /** The replicas of a partition's group on the other nodes. */
  partitionGroup(partition: PartitionIdentity): GroupPeers {
    const peers = this.#group({ kind: "partition", partition });
    return {
      ...peers,
      send: (to, message, body) => {
        if (message.kind === "commit" && this.#commits !== undefined) {
          this.#commits.add(to, { ...message, partition });
        } else peers.send(to, message, body);
      },
    };
  }

  /** Lets time pass for the groups of partitions; what they commit is told to each node in one message. */
  gathering(tick: () => void): void {
    const { replica } = this.#options.bus;
    this.#commits = new GatheredCommits();
    tick();
    this.#commits.flush((to, commits, { partition }) =>
      this.#sendOut(to, { kind: "partition", partition }, { kind: "commits", view: 0, replica, commits }),
    );
    this.#commits = undefined;
  }

  /** The way of operations on partitions to the nodes that lead them. */
  opWire(): ForwardedOpWire {
    const { replica } = this.#options.bus;
    return {
      sendOp: (to, partition, op, onDone) =>
        this.#sendOut(to, { kind: "partition", partition }, forwardedOpMessage(replica, op), onDone),
      sendOpAnswer: (to, partition, said) => {
        this.#sendOut(to, { kind: "partition", partition }, opAnswerMessage(replica, said));
      },
    };
  }

  #group(group: GroupAddress): GroupPeers {
    const { bus, cluster, timing } = this.#options;
    const { replica, replicaCount } = bus;
    return {
      options: { replica, replicaCount, cluster, timing, seed: this.#seed },
      send: (to, message, body) => {
        bus.send(to, this.#frameOf(group, message, body?.bytes), body?.onDone);
      },
    };
  }

  /** What a replica says to several others is sealed once: a frame does not name whom it is for. */
  #frameOf(group: GroupAddress, message: ReplicaMessage, bytes: Uint8Array | undefined): Frame {
    const latest = this.#latest;
    if (latest?.message === message && latest.bytes === bytes) return latest.frame;
    const frame = this.#seal(group, wireMessage(message, bytes));
    this.#latest = { message, bytes, frame };
    return frame;
  }

  #sendOut(to: number, group: GroupAddress, message: WireMessage, onDone?: () => void): boolean {
    return this.#options.bus.send(to, this.#seal(group, message), onDone);
  }

  #seal(group: GroupAddress, message: WireMessage): Frame {
    const { bus, cluster } = this.#options;
    return encodeReplicaMessage({ hash: this.#hash, cluster, replica: bus.replica, group }, message);
  }

  #onFrame(listeners: PeerListeners, from: number, received: ReceivedFrame): void {
    try {
      handOver(listeners, from, received);
    } catch (error) {
      if (!isCodedError(error, ErrorCode.ReplicaFrameInvalid)) throw error;
      this.#log.warn("A message of another node is not understood.", { from, error });
    }
  }
}

/** A sealed frame as parts. */
type Frame = readonly Uint8Array[];

interface SaidFrame {
  readonly message: ReplicaMessage;
  /** The body of a prepare. */
  readonly bytes: Uint8Array | undefined;
  readonly frame: Frame;
}

interface ReceivedFrame {
  readonly frame: OpenedFrame;
  readonly lease: Lease;
}

function handOver(listeners: PeerListeners, from: number, { frame, lease }: ReceivedFrame): void {
  const { group, message } = decodeReplicaMessage(frame);
  if (
    group.kind === "partition" &&
    handOverOp(listeners, from, { message, partition: group.partition, frame, lease })
  )
    return;
  switch (message.kind) {
    case "forwardedRequest": {
      const { kind: _, view: _view, replica: _replica, forward: id, body, ...request } = message;
      listeners.forwardedRequest(from, { ...request, body: body.slice(), id });
      return;
    }
    case "forwardedReply":
      listeners.forwardedAnswer(from, { id: message.forward, answer: answerOf(message) });
      return;
    case "formation":
      listeners.formation(from, message.starts);
      return;
    case "vouch":
      listeners.vouch(from, message.sessions);
      return;
    case "commits":
      for (const { partition, ...commit } of message.commits)
        listeners.partition(partition, from, { kind: "commit", ...commit }, undefined);
      return;
    case "standingsRequest":
      listeners.standingsRequest(from, message.forward, message.range);
      return;
    case "standingsReply": {
      const { forward, metadata, partitions } = message;
      listeners.standings(from, forward, { metadata, partitions });
      return;
    }
    case "stateRequest":
    case "stateManifest":
    case "stateChunkRequest":
    case "stateChunk":
    case "stateEnd":
      listeners.state(from, group, message);
      return;
    default:
      if (group.kind === "metadata") listeners.metadata(from, copied(message));
      else handOverPart(listeners, from, { group, message, frame, lease });
  }
}

function handOverPart(
  listeners: PeerListeners,
  from: number,
  said: ReceivedFrame & { group: Extract<GroupAddress, { kind: "partition" }>; message: GroupMessage },
): void {
  const { message, frame, lease, group } = said;
  if (message.kind !== "prepare") {
    listeners.partition(group.partition, from, message, undefined);
    return;
  }
  lendPayload({ frame, lease }, (body) => listeners.partition(group.partition, from, message, body));
}

/** True for an operation that is passed on to a partition's primary, and for the answer to one. */
function handOverOp(
  listeners: PeerListeners,
  from: number,
  said: ReceivedFrame & { readonly partition: PartitionIdentity; readonly message: WireMessage },
): boolean {
  const { message, partition } = said;
  if (message.kind === "forwardedRequest") {
    lendPayload(said, (body) => listeners.forwardedOp(from, partition, forwardedOpOf(message), body));
    return true;
  }
  if (message.kind !== "forwardedReply") return false;
  listeners.forwardedOpAnswer(from, partition, opAnswerOf(message));
  return true;
}

/** Hands over what a frame carries, where it lies. */
function lendPayload({ frame, lease }: ReceivedFrame, take: (body: ReceivedBody) => void): void {
  const { payload, payloadPosition } = frame;
  const isPlaced = lease.position >= 0 && payload.length > 0;
  const part = isPlaced ? lease.part(payloadPosition, payload.length) : undefined;
  take({ bytes: payload, lease: part });
  part?.release();
}

/** Metadata bodies are small and outlive their frame. */
function copied(message: GroupMessage): ReplicaMessage {
  if (message.kind !== "prepare") return message;
  const bytes = message.prepare.body.slice();
  return { ...message, prepare: { ...message.prepare, body: { bytes, request: undefined } } };
}

function wireMessage(message: ReplicaMessage, bytes: Uint8Array = NOTHING): WireMessage {
  if (message.kind !== "prepare") return message;
  return { ...message, prepare: { ...message.prepare, body: bytes } };
}

const NOTHING = new Uint8Array(0);
const NO_REPLY = { view: 0, op: 0, commit: 0, timestamp: 0, operation: 0, body: NOTHING };

function wireAnswer(answer: MetadataAnswer) {
  switch (answer.kind) {
    case "reply": {
      const { kind: _, isRepeated, ...reply } = answer;
      return { ...reply, outcome: ForwardOutcome.replied, code: isRepeated ? 1 : 0 };
    }
    case "refused":
      return { ...NO_REPLY, outcome: ForwardOutcome.rejected, code: answer.code };
    case "evicted":
      return { ...NO_REPLY, outcome: ForwardOutcome.evicted, code: answer.reason };
  }
}

function answerOf(message: Extract<WireMessage, { kind: "forwardedReply" }>): MetadataAnswer {
  const { outcome, code, op, view, commit, timestamp, operation, body } = message;
  if (outcome === ForwardOutcome.rejected) return { kind: "refused", code };
  if (outcome === ForwardOutcome.evicted) return { kind: "evicted", reason: code };
  const isRepeated = code === 1;
  return { kind: "reply", isRepeated, op, view, commit, timestamp, operation, body: body.slice() };
}
