import { assert } from "@millrace/errors";
import { baseOffsetAt, batchChecksumAt, type Lease } from "@millrace/framing";
import type { StoredPrepare } from "@millrace/storage";
import { StorageOperation } from "@millrace/storage";
import type { Input, Output, Prepare, ReplicaMessage } from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import type { GroupContext, ReplicationContext } from "./group-context.ts";
import type { PartitionGroup } from "./partition-group.ts";
import { type QueuedOp, replicatedOp } from "./partition-op.ts";
import { leaseOfReceived } from "./received-lease.ts";
import { prepareOf } from "./stored-prepare.ts";

/** The body of a prepare that another replica sent; both are lent for the call. */
export interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** The bytes where they lie in the memory of messages; nothing when they do not. */
  readonly lease: Lease | undefined;
}

/** Milliseconds between two lines that say that this replica cannot catch up by itself. */
const STATE_NOTICE_INTERVAL_MS = 10_000;

/**
 * The side of a partition's group that faces the other replicas: messages, views on disk, cuts, ops read
 * back.
 *
 * A failed write of a view or a cut stops it for good: a replica that may forget what it said is silent until
 * it is started again.
 */
export class PartitionReplication {
  readonly #group: PartitionGroup;
  readonly #context: GroupContext;
  readonly #shared: ReplicationContext;
  readonly #peers: GroupPeers;
  readonly #step: (input: Input) => void;
  #isStopped = false;
  #nextNoticeMs = 0;

  constructor(options: {
    readonly group: PartitionGroup;
    readonly context: GroupContext;
    readonly shared: ReplicationContext;
    readonly step: (input: Input) => void;
  }) {
    this.#group = options.group;
    this.#context = options.context;
    this.#shared = options.shared;
    this.#peers = options.shared.peersOf(options.group.identity);
    this.#step = options.step;
  }

  /** Nothing is said, heard or written any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Hands an input to the replica, unless this side is stopped. */
  hear(input: Input): void {
    if (!this.#isStopped) this.#step(input);
  }

  /** Hands a message to the replica; `body` is that of a prepare. */
  receive(from: number, message: ReplicaMessage, body: ReceivedBody | undefined): void {
    if (message.kind !== "prepare" || body === undefined) this.hear({ kind: "message", from, message });
    else this.#receivePrepare(from, message.prepare, message.view, body);
  }

  /** Tells a node what is committed, ahead of the next broadcast. */
  tellCommit(to: number): void {
    const { replica } = this.#group;
    if (this.#isStopped || replica?.isPrimary !== true) return;
    const { view, commit, commitChecksum } = replica;
    this.#peers.send(to, { kind: "commit", view, commit, commitChecksum });
  }

  /** Performs what the replica asks for. */
  perform(output: Output): void {
    if (this.#isStopped) return;
    switch (output.kind) {
      case "send":
        this.#send(output.to, output.message);
        break;
      case "persist-view":
        this.#persistView(output);
        break;
      case "journal-truncate":
        this.#then(this.#truncate(output.op), () => this.hear({ kind: "journal-truncated", op: output.op }));
        break;
      case "journal-read":
        this.#readBack(output);
        break;
      case "request-state":
        this.#noticeState(output.op);
        break;
      default:
        assert(false, `a partition's group never asks for ${output.kind}`);
    }
  }

  /** The group keeps the body of what it journals in this step; everything else is let go behind it. */
  #receivePrepare(from: number, fields: Prepare, view: number, received: ReceivedBody): void {
    const isBatch = fields.operation === StorageOperation.batch;
    const batchLease = isBatch ? this.#leaseOf(fields, received) : undefined;
    if (isBatch && batchLease === undefined) return;
    const body = replicatedOp(fields, { batchLease, body: isBatch ? NO_BODY : received.bytes.slice() });
    body.timestamp = fields.timestamp;
    if (batchLease !== undefined) {
      body.baseOffset = baseOffsetAt(this.#context.kernel.memory.view, batchLease.position);
    }
    const prepare = { ...fields, body };
    this.hear({ kind: "message", from, message: { kind: "prepare", view, prepare } });
    if (body.opNumber === 0) batchLease?.release();
  }

  /** The batch inside the memory that can be stored from; nothing when there is none, or it is another's. */
  #leaseOf({ bodyChecksum }: Prepare, received: ReceivedBody): Lease | undefined {
    const { kernel, pool } = this.#context;
    const batchLease = leaseOfReceived(pool, received);
    if (batchLease === undefined) return undefined;
    if (batchChecksumAt(kernel.memory.view, batchLease.position) === bodyChecksum) return batchLease;
    this.#context.log.error("A batch of another node is not the one that was agreed on.", {
      ...this.#group.identity,
    });
    batchLease.release();
    return undefined;
  }

  #send(to: number, message: ReplicaMessage): void {
    if (message.kind !== "prepare") {
      this.#peers.send(to, message);
      return;
    }
    const { op, body, isReleased } = message.prepare.body as QueuedOp;
    const { batchLease } = op;
    if (op.operation !== StorageOperation.batch) this.#peers.send(to, message, { bytes: body });
    else if (batchLease === undefined || isReleased) this.#sendStored(to, message);
    else this.#sendBatch(to, message, batchLease);
  }

  #sendBatch(to: number, message: ReplicaMessage, batchLease: Lease): void {
    batchLease.retain();
    this.#peers.send(to, message, { bytes: batchLease.bytes, onDone: () => batchLease.release() });
  }

  #sendStored(to: number, message: Extract<ReplicaMessage, { kind: "prepare" }>): void {
    this.#read(message.prepare.op, (stored) => {
      if (stored?.batchLease === undefined) return;
      if (stored.header.checksum === message.prepare.checksum)
        this.#sendBatch(to, message, stored.batchLease);
      stored.batchLease.release();
    });
  }

  #persistView({ view, logView, mayHaveLost }: Extract<Output, { kind: "persist-view" }>): void {
    const written = this.#write({ view, logView, mayHaveLost });
    this.#then(written, () => this.hear({ kind: "view-persisted", view, logView }));
  }

  /** The note comes first, so that a start after a kill in between finishes the cut. */
  async #truncate(op: number): Promise<void> {
    await this.#write({ cutAbove: op });
    await this.#group.writesDone();
    await this.#shared.cut(this.#group, op);
    await this.#write({ cutAbove: undefined });
  }

  #write(changes: Parameters<ReplicationContext["viewLog"]["write"]>[1]): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#shared.viewLog.write(this.#group.identity, changes, (error) =>
        error === undefined ? resolve() : reject(error),
      ),
    );
  }

  #readBack({ op, checksum, to }: Extract<Output, { kind: "journal-read" }>): void {
    this.#read(op, (stored) => {
      const prepare = stored && prepareOf(this.#context, stored);
      this.hear({ kind: "journal-read", op, checksum, to, prepare });
      stored?.batchLease?.release();
    });
  }

  /** What cannot be read is not answered: the peer asks again, or another one. */
  #read(op: number, done: (stored: StoredPrepare | undefined) => void): void {
    const { partition, identity } = this.#group;
    if (partition === undefined) return;
    partition.readPrepare(op).then(done, (error: unknown) => {
      this.#context.log.warn("An op of a partition could not be read back.", { ...identity, op, error });
    });
  }

  #noticeState(op: number): void {
    const { clock, log } = this.#context;
    if (clock.monotonicMs() < this.#nextNoticeMs) return;
    this.#nextNoticeMs = clock.monotonicMs() + STATE_NOTICE_INTERVAL_MS;
    const text = "The other nodes no longer hold the operations that this node lacks of a partition.";
    log.error(text, { ...this.#group.identity, op });
  }

  #then(work: Promise<void>, next: () => void): void {
    work.then(next, (error: unknown) => {
      this.stop();
      const text =
        "A partition of this node cannot keep what it promises the others; it is silent until a restart.";
      this.#context.log.error(text, { ...this.#group.identity, error });
    });
  }
}

const NO_BODY = new Uint8Array(0);
