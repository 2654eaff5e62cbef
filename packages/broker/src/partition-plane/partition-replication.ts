import { assert, CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { baseOffsetAt, batchChecksumAt, type Lease } from "@millrace/framing";
import { mayPass, type StateDescription, StorageOperation, type StoredPrepare } from "@millrace/storage";
import type { Input, Output, Prepare, ReplicaMessage } from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import { ReplicaLink } from "../cluster/replica-link.ts";
import type { GroupContext, ReplicationContext } from "./group-context.ts";
import { LaggingPeers, type OwnPlace } from "./lagging-peers.ts";
import type { PartitionGroup } from "./partition-group.ts";
import { type QueuedOp, replicatedOp, storedBatchOf } from "./partition-op.ts";
import { leaseOfReceived } from "./received-lease.ts";
import { sealedBatchOf } from "./sealed-batch.ts";
import { prepareOf } from "./stored-prepare.ts";

/** The body of a prepare that another replica sent; both are lent for the call. */
export interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** The bytes where they lie in the memory of messages; nothing when they do not. */
  readonly lease: Lease | undefined;
}

/**
 * The side of a partition's group that faces the other replicas: messages, views on disk, cuts, ops read
 * back, another replica's state. See `ReplicaLink` for what stops it.
 */
export class PartitionReplication {
  readonly #group: PartitionGroup;
  readonly #context: GroupContext;
  readonly #shared: ReplicationContext;
  readonly #peers: GroupPeers;
  readonly #stepGroup: (input: Input) => void;
  #link: ReplicaLink;
  /** Under way while the replica begins anew. */
  #restarting: Promise<void> | undefined;
  /** Op of the state that was installed last: what is asked to be cut below it is gone already. */
  #installedOp = 0;
  #isReplacing = false;
  /** States that took the place of the files. */
  #installedCount = 0;
  readonly #lagging = new LaggingPeers();
  /** Last op that was counted as written by a client. */
  #countedOp = 0;
  /** The read that the step under way has begun. */
  #reading: Promise<void> | undefined;

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
    this.#stepGroup = options.step;
    this.#link = this.#newLink();
  }

  #newLink(): ReplicaLink {
    const { clock, log } = this.#context;
    const { silent } = this.#shared;
    const facts = { ...this.#group.identity };
    return new ReplicaLink({ clock, log, facts, silent, step: this.#stepGroup });
  }

  /**
   * Nothing is said, heard or written any more. Settles when the files are not being changed, nor opened by a
   * replica that begins anew.
   */
  async stop(): Promise<void> {
    this.#link.stop();
    this.#shared.cancelFetch(this.#group);
    await this.#restarting;
    this.#link.stop();
    await this.#link.journalIdle();
  }

  /**
   * The partition takes no writes: the replica is silent. Once a full disk has space, or the disk lets the
   * files be opened whole, it begins anew with what its journal holds, as at a start. Damage, which a start
   * has found, is not mended by another one.
   */
  fail(failure: CodedError): void {
    if (failure.code === ErrorCode.PartitionDamaged || this.#group.isClosed) void this.stop();
    else this.#link.fail(failure, mayPass(failure) || this.#group.partition?.isHalfOpen === true);
  }

  /** Time passes. */
  tick(): void {
    if (this.#link.isStopped) this.#group.lookForSpace();
    else this.hear({ kind: "tick" });
  }

  /** Begins anew with what the journal holds, when a full disk was what silenced it and has space now. */
  goOnWhenMended(): void {
    if (this.#group.fault === undefined) void this.beginAnew();
  }

  /**
   * Another replica's state is to take the place of damaged files. A replica that is silent because of them,
   * or could not be opened, begins anew as one that may have lost all it said, which is noted first. Any
   * other one goes on with what it has until the state is there. Settles when that was tried: `stateAwaited`
   * of the replica tells.
   * @throws CodedError when it cannot be noted
   */
  async refetch(): Promise<void> {
    if (!this.#link.isStopped && this.#group.replica !== undefined) {
      this.hear({ kind: "refetch" });
      return;
    }
    this.#link.stop();
    await this.#write({ logView: 0, mayHaveLost: true });
    await this.beginAnew({ needsState: true });
  }

  /**
   * Nobody gives a good state: a replica that takes part goes on with what it has, and one that is in need of
   * the state goes on asking for it. Does nothing once the files are being replaced.
   */
  giveUpRefetch(): void {
    if (this.#isReplacing) return;
    this.hear({ kind: "state-refused" });
    if (this.#group.replica?.stateAwaited === undefined) this.#shared.cancelFetch(this.#group);
  }

  /**
   * A silent replica begins anew with what its journal holds, as at a start; settles when it was tried.
   * @param how.needsState  see `ReplicationContext.restart`
   */
  async beginAnew(how = { needsState: false }): Promise<void> {
    if (!this.#link.isStopped || this.#restarting !== undefined || this.#isReplacing) return;
    const silenced = this.#link;
    this.#restarting = silenced
      .changeJournal(() => this.#restart(how))
      .then(
        () => silenced.stop(),
        (error: unknown) => this.#link.fail(error),
      );
    await this.#restarting;
    this.#restarting = undefined;
  }

  async #restart(how: { readonly needsState: boolean }): Promise<void> {
    if (this.#group.isClosed) return;
    const begins = () => {
      this.#link = this.#newLink();
    };
    await this.#shared.restart(this.#group, begins, how);
  }

  /** Nothing is heard from the others any more: what has not come from them does not come. */
  get isStopped(): boolean {
    return this.#link.isStopped || this.#shared.isStopped;
  }

  /** The node stops: what it has not heard by now it does not hear. */
  get isNodeStopped(): boolean {
    return this.#shared.isStopped;
  }

  /** Hands an input to the replica, unless this side is stopped. */
  hear(input: Input): void {
    this.#link.hear(input);
  }

  /** How many states took the place of the files since the start. */
  get installedCount(): number {
    return this.#installedCount;
  }

  /** Fetched files are being put in the place of the partition's, or may have been when a failure came. */
  get isReplacing(): boolean {
    return this.#isReplacing;
  }

  /** Hands a message to the replica; `body` is that of a prepare. */
  receive(from: number, message: ReplicaMessage, body: ReceivedBody | undefined): void {
    if (message.kind === "prepare" && body !== undefined) {
      const take = (taken: ReceivedBody) => this.#receivePrepare(from, message.prepare, message.view, taken);
      if (this.#group.isOpening && !this.isStopped) this.#shared.early.keep(this.#group, body, take);
      else take(body);
    } else if (message.kind === "requestPrepare") this.#receiveRequest(from, message);
    else {
      this.#lagging.hears(from, message, this.#place);
      this.hear({ kind: "message", from, message });
    }
  }

  /** Who is far behind gets what it asks for at the pace of all, and hears how far it has to go. */
  #receiveRequest(from: number, message: Extract<ReplicaMessage, { kind: "requestPrepare" }>): void {
    const isFar = this.#lagging.asks(from, message.op, this.#place);
    const input = { kind: "message", from, message } as const;
    if (!isFar) {
      this.hear(input);
      return;
    }
    if (this.#lagging.mayTell(from, this.#place)) this.tellCommit(from);
    this.#shared.pace.give(() => {
      this.#reading = undefined;
      this.hear(input);
      return this.#reading;
    });
  }

  get #place(): OwnPlace {
    return { op: this.#group.replica?.op ?? 0, ticks: this.#shared.pace.ticks };
  }

  /** Tells a node what is committed, ahead of the next broadcast. */
  tellCommit(to: number): void {
    const { replica } = this.#group;
    if (this.isStopped || replica?.isPrimary !== true) return;
    const { view, commit, commitChecksum } = replica;
    this.#peers.send(to, { kind: "commit", view, commit, commitChecksum });
  }

  /** Performs what the replica asks for. */
  perform(output: Output): void {
    if (this.#link.isStopped) return;
    switch (output.kind) {
      case "send":
        this.#send(output.to, output.message);
        break;
      case "persist-view":
        this.#persistView(output);
        break;
      case "journal-truncate":
        this.#truncate(output.op);
        break;
      case "journal-read":
        this.#readBack(output);
        break;
      case "request-state":
        this.#shared.fetchState(this.#group, output);
        break;
      default:
        assert(false, `a partition's group never asks for ${output.kind}`);
    }
  }

  /** The group keeps the body of what it journals in this step; everything else is let go behind it. */
  #receivePrepare(from: number, fields: Prepare, view: number, received: ReceivedBody): void {
    const commitKnown = this.#group.replica?.commitKnown ?? 0;
    if (fields.op > commitKnown) this.#countWritten(fields.op, received.bytes.length);
    const isBatch = fields.operation === StorageOperation.batch;
    const batchLease = isBatch ? this.#leaseOf(fields, received) : undefined;
    if (isBatch && batchLease === undefined) return;
    const body = replicatedOp(fields, {
      batchLease,
      body: isBatch ? NO_BODY : received.bytes.slice(),
      sealed: sealedBatchOf(this.#context, batchLease),
    });
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
    const queued = message.prepare.body as QueuedOp;
    const { op, body, isReleased } = queued;
    const batchLease = storedBatchOf(queued);
    if (message.prepare.op === this.#group.replica?.op) {
      this.#countWritten(message.prepare.op, batchLease?.bytes.length ?? body.length);
      if (this.#lagging.isFarBehind(to, this.#place)) return;
    }
    if (op.operation !== StorageOperation.batch) this.#peers.send(to, message, { bytes: body });
    else if (batchLease === undefined || isReleased) this.#sendStored(to, message);
    else this.#sendBatch(to, message, batchLease);
  }

  /** What a client writes is told of once: what is sent again, or given to who is behind, has an older op. */
  #countWritten(op: number, length: number): void {
    if (op <= this.#countedOp) return;
    this.#countedOp = op;
    this.#shared.pace.wrote(length);
  }

  #sendBatch(to: number, message: ReplicaMessage, batchLease: Lease): void {
    batchLease.retain();
    this.#peers.send(to, message, { bytes: batchLease.bytes, onDone: () => batchLease.release() });
  }

  #sendStored(to: number, message: Extract<ReplicaMessage, { kind: "prepare" }>): void {
    void this.#read(message.prepare.op, (stored) => {
      if (stored?.batchLease === undefined) return;
      if (stored.header.checksum === message.prepare.checksum)
        this.#sendBatch(to, message, stored.batchLease);
      stored.batchLease.release();
    });
  }

  #persistView({ view, logView, mayHaveLost }: Extract<Output, { kind: "persist-view" }>): void {
    this.#link.keep(
      () => this.#write({ view, logView, mayHaveLost }),
      () => this.hear({ kind: "view-persisted", view, logView }),
    );
  }

  /**
   * Puts a fetched state in the place of the partition's, when the replica still waits for it; what the files
   * held is part of that state or never was.
   * @throws CodedError when it is not wanted any more; `DiskFull` before anything changed; any other answer
   *         of the disk makes the replica silent
   */
  install(state: StateDescription): Promise<void> {
    return this.#link.changeJournal(async () => {
      if (this.#link.isStopped || !this.#group.awaitsState(state.op)) {
        throw new CodedError(ErrorCode.TransientNotAccepted, "The state is not waited for any more.");
      }
      this.hear({ kind: "state-replacing" });
      this.#isReplacing = true;
      await this.#group.writesDone();
      try {
        await this.#replaceFiles(state);
      } catch (error) {
        if (this.#isReplacing) this.#link.fail(error);
        else this.hear({ kind: "state-refused" });
        throw error;
      }
    });
  }

  /** The note comes first, so that a start after a kill in between finishes it. */
  async #replaceFiles({ op, opChecksum: checksum }: StateDescription): Promise<void> {
    try {
      await this.#write({ hasIncoming: true, cutAbove: undefined });
    } catch (error) {
      if (isCodedError(error, ErrorCode.DiskFull)) this.#isReplacing = false;
      throw error;
    }
    const partition = await this.#shared.replace(this.#group);
    await this.#write({ hasIncoming: false });
    this.#isReplacing = false;
    this.#installedOp = op;
    this.#installedCount += 1;
    this.#group.stateInstalled(partition, { op, checksum });
  }

  #truncate(op: number): void {
    const cut = async () => {
      if (op >= this.#installedOp) await this.#cut(op);
    };
    this.#link.keep(
      () => this.#link.changeJournal(cut),
      () => this.hear({ kind: "journal-truncated", op }),
    );
  }

  /** The note comes first, so that a start after a kill in between finishes the cut. */
  async #cut(op: number): Promise<void> {
    await this.#write({ cutAbove: op });
    await this.#group.writesDone();
    await this.#shared.cut(this.#group, op);
    await this.#write({ cutAbove: undefined });
  }

  #write(changes: Parameters<ReplicationContext["viewLog"]["note"]>[1]): Promise<void> {
    return this.#shared.viewLog.note(this.#group.identity, changes);
  }

  #readBack({ op, checksum, to }: Extract<Output, { kind: "journal-read" }>): void {
    this.#reading = this.#read(op, (stored) => {
      const prepare = stored && prepareOf(this.#context, stored);
      this.#shared.pace.gave(stored?.batchLease?.length ?? 0);
      this.hear({ kind: "journal-read", op, checksum, to, prepare });
      stored?.batchLease?.release();
    });
  }

  /** What cannot be read is not answered: the peer asks again, or another one. */
  #read(op: number, done: (stored: StoredPrepare | undefined) => void): Promise<void> | undefined {
    const { partition, identity } = this.#group;
    return partition?.readPrepare(op).then(done, (error: unknown) => {
      // It was closed meanwhile: this node stops, or the partition is gone.
      if (isCodedError(error, ErrorCode.ShuttingDown)) return;
      this.#context.log.warn("An op of a partition could not be read back.", { ...identity, op, error });
    });
  }
}

const NO_BODY = new Uint8Array(0);
