import { assert, CodedError, ErrorCode } from "@millrace/errors";
import type { AppendDone, Partition, PartitionIdentity } from "@millrace/storage";
import type { Input, Output, Prepare, Replica } from "@millrace/vsr";
import { Fifo } from "../queues/fifo.ts";
import { Waiters } from "../queues/waiters.ts";
import { Admission } from "./admission.ts";
import type { GroupContext } from "./group-context.ts";
import { NUMBERED_SESSION, type PartitionOp, type PurgeOp, type QueuedOp } from "./partition-op.ts";
import { PartitionReplication } from "./partition-replication.ts";
import { Purges } from "./purges.ts";
import { answerCommitted, answerFailed, answerUnsure, releaseBatches, releaseHold } from "./queued-ending.ts";
import { Repetitions } from "./repetitions.ts";
import { type RecoveredGroup, replicaOf } from "./replica-of.ts";
import { settleBody } from "./settle-body.ts";
import { SpaceWatch } from "./space-watch.ts";
import { writeOp } from "./write-op.ts";

/** An offset that a poll with auto-commit is storing, and others that want no more than that. */
export interface MovingOffset {
  readonly offset: number;
  readonly waiting: { committed(): void; failed(code: number): void }[];
}

/**
 * One partition: a consensus group over a stored partition.
 *
 * Operations are numbered, stamped and journaled in the order in which they were submitted, and answered when
 * they are committed. `Admission` decides which of them get so far.
 */
export class PartitionGroup {
  readonly identity: PartitionIdentity;
  /** The highest of those on their way, by kind and consumer. */
  readonly offsetsUnderWay = new Map<number, MovingOffset>();
  readonly purges = new Purges();
  /** Requests that came before: under way here, or committed. */
  readonly repetitions: Repetitions;
  readonly #context: GroupContext;
  readonly #admission: Admission;
  /** Prepared and not committed, in op order. */
  readonly #inFlight = new Fifo<QueuedOp>();
  readonly #space: SpaceWatch;
  /** Its side that faces the other replicas; nothing where there are none. */
  readonly replication: PartitionReplication | undefined;
  #partition: Partition | undefined = undefined;
  #replica: Replica | undefined = undefined;
  #isLost = false;
  #openFault: CodedError | undefined = undefined;
  readonly #whenOpen = new Waiters();
  readonly #whenIdle = new Waiters();
  readonly #whenWritten = new Waiters();
  #writesPending = 0;
  #failure: CodedError | undefined = undefined;

  constructor(identity: PartitionIdentity, context: GroupContext) {
    this.identity = identity;
    this.#context = context;
    this.#space = new SpaceWatch(context);
    this.repetitions = new Repetitions(context.kernel, identity.partitionId, () => this.#partition);
    const step = (input: Input) => this.#step(input);
    this.replication =
      context.replication &&
      new PartitionReplication({ group: this, context, shared: context.replication, step });
    this.#admission = new Admission({
      ...{ group: this, context, space: this.#space },
      prepare: (queued, partition, replica) => this.#prepare(queued, partition, replica),
      fail: (queued, code) => this.#fail(queued, code),
      pump: () => this.#pump(),
    });
  }

  /** The stored partition, once it is open. */
  get partition(): Partition | undefined {
    return this.#partition;
  }

  /**
   * The stored partition of a group that is open and not ahead.
   * @throws CodedError the reason why it did not open, or 58
   */
  get openPartition(): Partition {
    if (this.#partition !== undefined && !this.isAhead) return this.#partition;
    if (this.#openFault !== undefined) throw this.#openFault;
    this.#context.deniedTransient.add(1);
    throw new CodedError(ErrorCode.TransientNotAccepted);
  }

  /** It is being opened: nobody knows yet what it holds. */
  get isOpening(): boolean {
    return this.#partition === undefined && this.#replica === undefined && this.#openFault === undefined;
  }

  /** What the partition says may never have been: a replica has not heard yet what is committed. */
  get isAhead(): boolean {
    return this.#partition?.isAhead === true;
  }

  /** Files of the journal are gone, and the replica has not been given the log of a view yet. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The oldest op in flight comes from a primary before: what it answered is not committed here yet. */
  get isSuffixInDoubt(): boolean {
    return this.replication !== undefined && this.#inFlight.peek()?.isAnswered === true;
  }

  /** Why nothing can be written, or nothing. Reads have their own errors. */
  get fault(): CodedError | undefined {
    return this.#openFault ?? this.#partition?.fault;
  }

  get queuedCount(): number {
    return this.#admission.count + this.#inFlight.count;
  }

  /** It takes no more operations. */
  get isClosed(): boolean {
    return this.#admission.isClosed;
  }

  /** Writes to the journal are on their way. */
  get isWriting(): boolean {
    return this.#writesPending > 0;
  }

  /** A journal write failed: nothing new is prepared until every write has come back. */
  get writeFailure(): CodedError | undefined {
    return this.#failure;
  }

  /** True when this replica numbers the group's operations; always where there is no other. */
  get isPrimary(): boolean {
    return this.#replica?.isPrimary === true && this.replication?.isStopped !== true;
  }

  /** This node's replica of the group, to be looked at; nothing while the partition is not open. */
  get replica(): Replica | undefined {
    return this.#replica;
  }

  /**
   * Takes the opened partition, or the reason why it could not be opened, and starts on what waits. With one
   * replica everything that recovery found is committed; the others know the fate of `suffix`.
   */
  opened(partition: Partition | CodedError, recovered?: RecoveredGroup): void {
    if (partition instanceof CodedError) this.#openFault = partition;
    else {
      if (recovered === undefined) partition.commit(partition.lastOp);
      this.#partition = partition;
      for (const { body } of recovered?.suffix ?? []) this.#goesOn(body as QueuedOp);
      this.#openFault = recovered?.fault;
      if (this.#openFault === undefined) this.#replica = replicaOf(this.#context, partition, recovered);
      this.#isLost = recovered?.isLost === true && this.#replica?.status !== "normal";
      const isReplaced = recovered?.stateNeeded !== undefined;
      if (this.fault !== undefined && !isReplaced) this.replication?.fail(this.fault);
    }
    this.#whenOpen.tell();
    this.#pump();
  }

  /** Takes the partition whose end was cut off; its replica goes on. */
  reopened(partition: Partition): void {
    partition.commit(this.#replica?.commit ?? 0);
    this.#partition = partition;
    this.#whenOpen.tell();
    this.#pump();
  }

  /**
   * Takes the partition out of use, to be `opened` anew; what comes waits. Nothing is on its way to the
   * files; a replica may hold what the others know the fate of.
   */
  takeOut(): Partition | undefined {
    const partition = this.#partition;
    const isInUse = this.#writesPending > 0 || (this.replication === undefined && this.#inFlight.count > 0);
    assert(!isInUse, "what is in use is not taken out");
    for (const queued of this.#inFlight.drain()) this.#fail(queued, ErrorCode.TransientNotCommitted);
    this.#partition = undefined;
    this.#replica = undefined;
    this.#openFault = undefined;
    return partition;
  }

  /**
   * Lets go of operations above `op`, which never were, and takes the partition out of use to be cut and
   * `reopened`. Nothing is written meanwhile.
   */
  takeOutAbove(op: number): Partition | undefined {
    const partition = this.#partition;
    assert(this.#writesPending === 0, "a journal is cut when its writes have come to their end");
    this.#partition = undefined;
    for (const queued of this.#inFlight.drain()) {
      if (queued.opNumber <= op) this.#inFlight.push(queued);
      else this.#fail(queued, ErrorCode.TransientNotCommitted);
    }
    return partition;
  }

  /** The replica waits for another one's state, and one as of `op` is far enough. */
  awaitsState(op: number): boolean {
    const awaited = this.#replica?.stateAwaited;
    return awaited !== undefined && awaited <= op && this.#partition !== undefined;
  }

  /** Takes another replica's state in place of its own: nobody here knows how what was in flight ended. */
  stateInstalled(partition: Partition, { op, checksum }: { readonly op: number; readonly checksum: bigint }) {
    for (const queued of this.#inFlight.drain()) this.#fail(queued, ErrorCode.TransientNotCommitted);
    partition.commit(op);
    this.#partition = partition;
    this.#whenOpen.tell();
    this.replication?.hear({ kind: "state-installed", op, checksum });
  }

  /** Settles when no write is on its way. */
  writesDone(): Promise<void> {
    const done = this.#whenWritten.settled();
    this.#tellWritten();
    return done;
  }

  #tellWritten(): void {
    if (this.#writesPending === 0) this.#whenWritten.tell();
  }

  /** Calls back once the partition is open or has failed to open: at once when it has. */
  afterOpen(callback: () => void): void {
    if (this.#partition !== undefined || this.#openFault !== undefined) callback();
    else this.#whenOpen.add(callback);
  }

  /** Takes an operation, see `Admission`; may hold its connection. */
  submit(op: PartitionOp): void {
    this.#admission.submit(op);
  }

  /** Takes the purge of everything written so far. */
  purge(op: PurgeOp): void {
    this.#admission.purge(op);
  }

  /** A batch that comes now waits for a view to begin, see `WaitingForView`. */
  get awaitsView(): boolean {
    return this.#admission.awaitsView;
  }

  /** Another replica numbers the operations, or none does just now, or this one has fallen silent. */
  get isBackup(): boolean {
    if (this.replication === undefined) return false;
    if (this.#replica === undefined) return this.#openFault !== undefined;
    return !this.#replica.isPrimary || this.replication.isStopped;
  }

  /**
   * Refuses what waits and what comes with `code`, and settles when what is in flight has ended. Among
   * several replicas that may take as long as a quorum is away: then nobody knows how it ends.
   */
  async close(code: number = ErrorCode.ResourceNotFound): Promise<void> {
    this.#admission.close(code);
    if (this.replication !== undefined) {
      await this.replication.stop();
      await this.writesDone();
      for (const queued of this.#inFlight.drain()) this.#fail(queued, ErrorCode.TransientNotCommitted);
    }
    await this.idle();
  }

  /** Settles when nothing is queued or in flight. */
  idle(): Promise<void> {
    const idle = this.#whenIdle.settled();
    this.#tellIdle();
    return idle;
  }

  #pump(): void {
    const partition = this.#partition;
    const replica = this.#replica;
    const fault = this.fault;
    if (fault !== undefined) {
      this.#admission.refuseAll(this.replication === undefined ? fault.code : ErrorCode.TransientNotAccepted);
      this.lookForSpace();
    }
    if (partition === undefined || replica === undefined) return;
    this.#admission.letIn(partition, replica);
    this.#tellIdle();
  }

  #prepare(queued: QueuedOp, partition: Partition, replica: Replica): void {
    const { op } = queued;
    const timestamp = Math.max(this.#context.clock.wallMicros(), partition.lastTimestamp);
    queued.baseOffset = partition.nextOffset;
    queued.timestamp = timestamp;
    const bodyChecksum = settleBody(this.#context, this.identity, queued);
    if (bodyChecksum === undefined) {
      this.#fail(queued, ErrorCode.TransientNotAccepted);
      return;
    }
    const { client, request, user, operation } = op;
    const session = op.isNumbered === true ? NUMBERED_SESSION : 0;
    this.#perform(
      replica.step({
        kind: "request",
        request: { client, session, request, operation, user, timestamp, body: queued, bodyChecksum },
      }),
      queued,
    );
  }

  #step(input: Input): void {
    const replica = this.#replica;
    if (replica === undefined) return;
    this.#perform(replica.step(input));
    this.#pump();
  }

  /** @param proposed  whom a refusal without a context is for */
  #perform(outputs: readonly Output[], proposed?: QueuedOp): void {
    for (const output of outputs) {
      if (output.kind === "journal-write") this.#journal(output.prepare);
      else if (output.kind === "apply") this.#apply(output.prepare);
      else if (output.kind === "reject") this.#rejected(output, proposed);
      else this.replication?.perform(output);
    }
    if (this.#replica?.status === "normal") this.#isLost = false;
  }

  /** An operation that this replica did not number is in flight; its client may ask again here. */
  #goesOn(queued: QueuedOp): void {
    this.#inFlight.push(queued);
    this.purges.follow(queued);
    if (queued.op.isNumbered === true) this.repetitions.begin(queued);
  }

  /** Nobody knows whether an operation that was in flight will be committed; another primary decides. */
  #rejected({ code, context }: Extract<Output, { kind: "reject" }>, proposed: QueuedOp | undefined): void {
    if (context !== undefined) answerUnsure(context as QueuedOp, code);
    else if (proposed !== undefined) this.#fail(proposed, code);
  }

  #journal(prepare: Prepare): void {
    const partition = this.#partition;
    assert(partition !== undefined, "only an open partition prepares");
    const queued = prepare.body as QueuedOp;
    queued.opNumber = prepare.op;
    queued.bodyChecksum = prepare.bodyChecksum;
    if (queued.isAnswered) this.#goesOn(queued);
    else this.#inFlight.push(queued);
    this.#writesPending += 1;
    writeOp(partition, prepare, this.#written);
  }

  /** Of ops of the same write, which are told of in the same call, the last one lets in what waits. */
  readonly #written: AppendDone = (error, { op, checksum }, more) => {
    this.#writesPending -= 1;
    if (error !== undefined) this.#failure ??= error;
    if (this.#failure === undefined) {
      this.#perform(this.#replica?.step({ kind: "journal-written", op, checksum }) ?? []);
    } else if (this.#writesPending === 0) this.#startOver(this.#failure);
    if (more > 0) return;
    this.#tellWritten();
    this.#pump();
  };

  #apply(prepare: Prepare): void {
    const queued = this.#inFlight.shift();
    assert(queued !== undefined && queued === prepare.body, "ops are applied in the order of the log");
    this.#partition?.commit(prepare.op);
    this.#context.onApplied?.(this);
    this.#end(queued);
    answerCommitted(queued, prepare);
  }

  /** Lets go of what an operation, and those that repeat it, held. */
  #end(queued: QueuedOp): void {
    this.purges.unfollow(queued);
    if (queued.op.isNumbered === true) this.repetitions.end(queued);
    releaseBatches(queued);
  }

  /** A write failed: every op after the last good one is refused, and the group goes on from there. */
  #startOver(failure: CodedError): void {
    const partition = this.#partition;
    assert(partition !== undefined, "only an open partition writes");
    this.#context.log.error("A partition could not be written.", { ...this.identity, code: failure.code });
    // A replica of several cannot unsay what it has told the others, who may commit it.
    const code = this.replication === undefined ? failure.code : ErrorCode.TransientNotCommitted;
    if (this.replication !== undefined) this.replication.fail(failure);
    else this.#replica = replicaOf(this.#context, partition);
    this.#failure = undefined;
    for (const queued of this.#inFlight.drain()) this.#fail(queued, code);
  }

  /** Looks whether a full disk has space again, now and then, as each operation that comes does. */
  lookForSpace(): void {
    if (this.fault === undefined || this.#partition === undefined || this.#writesPending > 0) return;
    this.#space.look(this.#partition, this.fault, () => {
      this.replication?.goOnWhenMended();
      this.#pump();
    });
  }

  #fail(queued: QueuedOp, code: number): void {
    releaseHold(queued);
    this.#end(queued);
    answerFailed(queued, code);
  }

  #tellIdle(): void {
    if (this.queuedCount > 0 || this.#writesPending > 0) return;
    this.#whenIdle.tell();
  }
}
