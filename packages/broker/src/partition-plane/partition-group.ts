import { assert, CodedError, ErrorCode } from "@millrace/errors";
import { batchChecksumAt, type Lease } from "@millrace/framing";
import { type BatchFacts, type Partition, type PartitionIdentity, StorageOperation } from "@millrace/storage";
import { createReplica, type Output, type Prepare, type Replica } from "@millrace/vsr";
import { AdmissionQueue } from "../queues/admission-queue.ts";
import { Fifo } from "../queues/fifo.ts";
import type { GroupContext } from "./group-context.ts";
import { NO_CONTENTS, type PartitionContents } from "./partition-handle.ts";
import { bodyOf, type PartitionOp, type PurgeOp, type QueuedOp, queuedOp } from "./partition-op.ts";
import { Repetitions } from "./repetitions.ts";

/**
 * Operations waiting beside those in flight, as a multiple of the pipeline's depth: the reference's number.
 */
const QUEUE_FACTOR = 2;
/** Looking for space costs a few system calls; once a second is soon enough for people who have made some. */
const RESUME_INTERVAL_MS = 1000;
const NUMBERED: BatchFacts = { isNumbered: true };

/**
 * One partition: a consensus group of one replica over a stored partition.
 *
 * Operations are numbered, stamped and journaled in the order in which they were submitted, and answered when
 * they are committed. While the pipeline is full they wait here; while that queue is full too, the connection
 * that brought the operation is held. One that waits longer than `admissionTimeoutMs` fails with 58.
 */
export class PartitionGroup {
  readonly identity: PartitionIdentity;
  /** Highest offset that polls with auto-commit are storing now, by kind and consumer. */
  readonly offsetsUnderWay = new Map<number, number>();
  /**
   * Purges since the start that were submitted and that came to their end. What was read before the end of
   * one may be gone behind it, so no offset of it is stored then.
   */
  purgesBegun = 0;
  purgesEnded = 0;
  readonly #context: GroupContext;
  readonly #queue: AdmissionQueue<QueuedOp>;
  /** Prepared and not committed, in op order. */
  readonly #inFlight = new Fifo<QueuedOp>();
  readonly #repetitions: Repetitions;
  #partition: Partition | undefined = undefined;
  #replica: Replica | undefined = undefined;
  #openFault: CodedError | undefined = undefined;
  #whenOpen: (() => void)[] = [];
  #whenIdle: (() => void)[] = [];
  #writesPending = 0;
  /** A journal write failed: nothing new is prepared until every write has come back. */
  #failure: CodedError | undefined = undefined;
  #nextResumeMs = 0;
  /** A purge that is decided and could not be written yet: nothing else is written before it. */
  #owedPurge: PurgeOp | undefined = undefined;
  #closedCode: number | undefined = undefined;

  constructor(identity: PartitionIdentity, context: GroupContext) {
    this.identity = identity;
    this.#context = context;
    this.#repetitions = new Repetitions(context.kernel, identity.partitionId);
    this.#queue = new AdmissionQueue({
      clock: context.clock,
      timeoutMs: context.admissionTimeoutMs,
      onLate: (queued) => {
        context.deniedTransient.add(1);
        this.#fail(queued, ErrorCode.TransientNotAccepted);
      },
    });
  }

  /** The stored partition, once it is open. */
  get partition(): Partition | undefined {
    return this.#partition;
  }

  /**
   * The stored partition of a group that is open. @throws CodedError the reason why it did not open, or 58
   */
  get openPartition(): Partition {
    if (this.#partition !== undefined) return this.#partition;
    if (this.#openFault !== undefined) throw this.#openFault;
    this.#context.deniedTransient.add(1);
    throw new CodedError(ErrorCode.TransientNotAccepted);
  }

  /** Why nothing can be written, or nothing. Reads have their own errors. */
  get fault(): CodedError | undefined {
    return this.#openFault ?? this.#partition?.fault;
  }

  /** What it holds; one empty segment while it is not open. */
  get contents(): PartitionContents {
    const partition = this.#partition;
    if (partition === undefined) return NO_CONTENTS;
    return {
      byteLength: partition.byteLength,
      messagesCount: partition.messageCount,
      segmentsCount: Math.max(1, partition.segmentCount),
      currentOffset: Math.max(0, partition.committedNextOffset - 1),
    };
  }

  get queuedCount(): number {
    return this.#queue.count + this.#inFlight.count;
  }

  /**
   * Takes the opened partition, or the reason why it could not be opened, and starts on what waits. With one
   * replica everything that recovery found is committed.
   */
  opened(partition: Partition | CodedError): void {
    if (partition instanceof CodedError) this.#openFault = partition;
    else {
      partition.commit(partition.lastOp);
      this.#partition = partition;
      this.#replica = this.#replicaOf(partition);
    }
    const waiting = this.#whenOpen;
    this.#whenOpen = [];
    for (const callback of waiting) callback();
    this.#pump();
  }

  /**
   * Takes the partition out of use, to be `opened` anew; what comes meanwhile waits. Only for one that takes
   * no
   * writes, so that nothing is in flight.
   */
  takeOut(): Partition | undefined {
    const partition = this.#partition;
    assert(this.fault !== undefined && this.#inFlight.count === 0, "a partition in use is not taken out");
    this.#partition = undefined;
    this.#replica = undefined;
    this.#openFault = undefined;
    return partition;
  }

  /** Calls back once the partition is open or has failed to open: at once when it has. */
  afterOpen(callback: () => void): void {
    if (this.#partition !== undefined || this.#openFault !== undefined) callback();
    else this.#whenOpen.push(callback);
  }

  /** Queues an operation; may hold its connection. */
  submit(op: PartitionOp): void {
    const queued = queuedOp(op);
    if (this.#closedCode !== undefined) {
      this.#fail(queued, this.#closedCode);
      return;
    }
    if (op.isNumbered === true) {
      if (this.#answersAgain(op) || this.#repetitions.join(op)) return;
      this.#repetitions.begin(queued);
    }
    const isTried = isRemoval(op) && this.fault?.code === ErrorCode.DiskFull;
    if (isTried) this.#tryRemoval(queued);
    else if (!this.#prepareAtOnce(queued)) this.#enqueue(queued);
  }

  /** What frees space is tried on a full disk too: its record is short. */
  #tryRemoval(queued: QueuedOp): void {
    const goOn = () => {
      if (this.#closedCode === undefined) this.#enqueue(queued);
      else this.#fail(queued, this.#closedCode);
    };
    if (this.#writesPending > 0 || this.#partition === undefined) goOn();
    else void this.#resume(this.#partition, true).then(goOn);
  }

  /** True when the operation repeats one that is committed: then it does nothing again. */
  isRepetition(op: PartitionOp): boolean {
    return this.#partition !== undefined && this.#repetitions.committed(op, this.#partition) !== undefined;
  }

  /** True when a request of this client and number is under way here or remembered. */
  hasSeen(request: Pick<PartitionOp, "client" | "user" | "request">): boolean {
    const { client, user, request: number } = request;
    const remembered = this.#partition?.rememberedRequest(client, user, number);
    return remembered !== undefined || this.#repetitions.isUnderWay(request);
  }

  #answersAgain(op: PartitionOp): boolean {
    const original = this.#partition && this.#repetitions.committed(op, this.#partition);
    if (original === undefined) return false;
    const { op: number, baseOffset, timestamp } = original;
    op.batchLease?.release();
    const view = this.#replica?.view ?? 0;
    op.committed({ op: number, view, baseOffset, timestamp, isRepeated: true });
    return true;
  }

  /** Most operations find room and nobody waiting: they need no deadline. */
  #prepareAtOnce(queued: QueuedOp): boolean {
    const partition = this.#partition;
    const replica = this.#replica;
    if (partition === undefined || replica === undefined) return false;
    if (this.#queue.count > 0 || this.#owedPurge !== undefined) return false;
    if (partition.fault !== undefined || this.#failure !== undefined || replica.pipelineFree === 0)
      return false;
    this.#prepare(queued, partition, replica);
    return true;
  }

  #enqueue(queued: QueuedOp): void {
    const { op } = queued;
    const isFull = this.#queue.count >= QUEUE_FACTOR * this.#context.prepareQueueDepth;
    queued.isHolding = isFull && op.holder !== undefined;
    this.#queue.push(queued);
    if (queued.isHolding) op.holder?.hold();
    this.#pump();
    this.#queue.watch();
  }

  /** True from the submit of a purge to its end: an offset that is stored now would outlive its messages. */
  get isPurging(): boolean {
    return this.purgesBegun > this.purgesEnded;
  }

  /**
   * Queues the purge of everything written so far. One that fails is owed: whatever is written later is
   * written behind it, so that it never takes what came after its answer.
   */
  purge(op: PurgeOp): void {
    this.submit(this.#begunPurge(op));
  }

  /** Owes a purge to a partition that is not there to be written. */
  owePurge(op: PurgeOp): void {
    this.#owedPurge = op;
  }

  #begunPurge(op: PurgeOp): PartitionOp {
    this.purgesBegun += 1;
    return {
      ...op,
      committed: (result) => {
        this.purgesEnded += 1;
        op.committed(result);
      },
      failed: (code) => {
        this.purgesEnded += 1;
        if (this.#closedCode === undefined) this.#owedPurge = op;
        op.failed(code);
      },
    };
  }

  /** Writes the purge that is owed; one that the files know already is done. */
  #payPurge(partition: Partition, replica: Replica): void {
    const op = this.#owedPurge;
    if (op === undefined || this.fault !== undefined || this.#failure !== undefined) return;
    if (replica.pipelineFree === 0) return;
    this.#owedPurge = undefined;
    if (op.generation <= partition.purgeGeneration) return;
    this.#prepare(queuedOp(this.#begunPurge(op)), partition, replica);
  }

  /** Refuses what waits and what comes with `code`, and settles when what is in flight has ended. */
  close(code: number = ErrorCode.ResourceNotFound): Promise<void> {
    this.#closedCode = code;
    this.#refuseAll(code);
    return this.idle();
  }

  /** Settles when nothing is queued or in flight. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#tellIdle();
    });
  }

  #pump(): void {
    const partition = this.#partition;
    const replica = this.#replica;
    const fault = this.fault;
    if (fault !== undefined) {
      this.#refuseAll(fault.code);
      this.#tryResume(fault);
    }
    if (partition === undefined || replica === undefined) return;
    this.#payPurge(partition, replica);
    while (this.#owedPurge === undefined && this.#failure === undefined && replica.pipelineFree > 0) {
      const queued = this.#queue.shift();
      if (queued === undefined) break;
      this.#releaseHold(queued);
      if (!this.#wasCommittedBefore(queued)) this.#prepare(queued, partition, replica);
    }
    this.#tellIdle();
  }

  /** An operation that was queued before the partition was open may be one that it remembers. */
  #wasCommittedBefore(queued: QueuedOp): boolean {
    if (queued.op.isNumbered !== true || !this.#answersAgain(queued.op)) return false;
    const { repetitions } = queued;
    this.#repetitions.end(queued);
    for (const op of repetitions ?? []) this.submit(op);
    return true;
  }

  #prepare(queued: QueuedOp, partition: Partition, replica: Replica): void {
    const { op } = queued;
    const timestamp = Math.max(this.#context.clock.wallMicros(), partition.lastTimestamp);
    queued.baseOffset = partition.nextOffset;
    queued.timestamp = timestamp;
    const bodyChecksum = op.batchLease === undefined ? 0n : this.#stamp(op.batchLease, queued, timestamp);
    if (bodyChecksum === undefined) {
      this.#fail(queued, ErrorCode.TransientNotAccepted);
      return;
    }
    this.#inFlight.push(queued);
    const { client, request, user, operation } = op;
    this.#perform(
      replica.step({
        kind: "request",
        request: { client, session: 0, request, operation, user, timestamp, body: queued, bodyChecksum },
      }),
    );
  }

  /**
   * Gives a batch its place in the partition and, where the directory is encrypted, its stored form: what the
   * group agrees on is what is stored. The checksum of that; nothing when there is no memory for it.
   */
  #stamp(batchLease: Lease, queued: QueuedOp, timestamp: number): bigint | undefined {
    const { kernel, batchCipher } = this.#context;
    kernel.stampBatch(batchLease.position, this.identity.partitionId, queued.baseOffset, timestamp);
    if (batchCipher === undefined) return batchChecksumAt(kernel.memory.view, batchLease.position);
    const storedLease = batchCipher.seal(this.identity, batchLease);
    queued.storedLease = storedLease;
    return storedLease && batchChecksumAt(kernel.memory.view, storedLease.position);
  }

  #perform(outputs: readonly Output[]): void {
    for (const output of outputs) {
      if (output.kind === "journal-write") this.#journal(output.prepare);
      else if (output.kind === "apply") this.#apply(output.prepare);
      else assert(false, `a partition group of one replica never asks for ${output.kind}`);
    }
  }

  #journal(prepare: Prepare): void {
    const partition = this.#partition;
    assert(partition !== undefined, "only an open partition prepares");
    const queued = prepare.body as QueuedOp;
    const { op, storedLease } = queued;
    const isNumbered = op.isNumbered === true;
    const done = (error?: CodedError) => this.#written(prepare, error);
    this.#writesPending += 1;
    if (storedLease !== undefined) {
      partition.appendBatch(prepare, storedLease, done, { clearLease: op.batchLease, isNumbered });
      queued.storedLease = undefined;
      storedLease.release();
    } else if (op.batchLease !== undefined) {
      partition.appendBatch(prepare, op.batchLease, done, isNumbered ? NUMBERED : undefined);
    } else partition.appendOperation(prepare, bodyOf(op), done, isNumbered);
  }

  #written(prepare: Prepare, error: CodedError | undefined): void {
    this.#writesPending -= 1;
    if (error !== undefined) this.#failure ??= error;
    if (this.#failure === undefined) {
      const { op, checksum } = prepare;
      this.#perform(this.#replica?.step({ kind: "journal-written", op, checksum }) ?? []);
    } else if (this.#writesPending === 0) this.#startOver(this.#failure);
    this.#pump();
  }

  #apply(prepare: Prepare): void {
    const queued = this.#inFlight.shift();
    assert(
      queued !== undefined && queued === prepare.body,
      "ops are applied in the order they were prepared",
    );
    this.#partition?.commit(prepare.op);
    this.#context.onApplied?.(this);
    this.#end(queued);
    const { op, view, timestamp } = prepare;
    const { baseOffset, repetitions } = queued;
    queued.op.committed({ op, view, baseOffset, timestamp, isRepeated: false });
    for (const again of repetitions ?? [])
      again.committed({ op, view, baseOffset, timestamp, isRepeated: true });
  }

  /** Lets go of what an operation, and those that repeat it, held. */
  #end(queued: QueuedOp): void {
    const { op, repetitions } = queued;
    if (op.isNumbered === true) this.#repetitions.end(queued);
    op.batchLease?.release();
    for (const again of repetitions ?? []) again.batchLease?.release();
  }

  /** A write failed: every op after the last good one is refused, and the group goes on from there. */
  #startOver(failure: CodedError): void {
    const partition = this.#partition;
    assert(partition !== undefined, "only an open partition writes");
    this.#context.log.error("A partition could not be written.", { ...this.identity, code: failure.code });
    this.#replica = this.#replicaOf(partition);
    this.#failure = undefined;
    for (const queued of this.#inFlight.drain()) this.#fail(queued, failure.code);
  }

  #replicaOf(partition: Partition): Replica {
    const { lastOp, lastOpChecksum, lastView } = partition;
    return createReplica({
      replica: 0,
      replicaCount: 1,
      cluster: 0n,
      prepareQueueDepth: this.#context.prepareQueueDepth,
      recovered: { view: lastView, logView: lastView, op: lastOp, commit: lastOp, checksum: lastOpChecksum },
      checksumOf: this.#context.checksumOf,
    });
  }

  /** Looks whether a full disk has space again, as the next operation would. */
  lookForSpace(): void {
    const { fault } = this;
    if (fault !== undefined) this.#tryResume(fault);
  }

  /** A full disk is looked at again with the next operation that comes, now and then: there may be space. */
  #tryResume(fault: CodedError): void {
    const partition = this.#partition;
    const nowMs = this.#context.clock.monotonicMs();
    if (partition === undefined || fault.code !== ErrorCode.DiskFull) return;
    if (this.#writesPending > 0 || nowMs < this.#nextResumeMs) return;
    this.#nextResumeMs = nowMs + RESUME_INTERVAL_MS;
    void this.#resume(partition, false).then(() => this.#pump());
  }

  async #resume(partition: Partition, forRemoval: boolean): Promise<void> {
    try {
      await partition.resume(forRemoval);
    } catch (error) {
      this.#context.log.warn("Looking for space failed.", { ...this.identity, error });
    }
  }

  #refuseAll(code: number): void {
    for (const queued of this.#queue.drain()) this.#fail(queued, code);
  }

  #fail(queued: QueuedOp, code: number): void {
    this.#releaseHold(queued);
    this.#end(queued);
    queued.op.failed(code);
    for (const again of queued.repetitions ?? []) again.failed(code);
  }

  #releaseHold(queued: QueuedOp): void {
    if (!queued.isHolding) return;
    queued.isHolding = false;
    queued.op.holder?.unhold();
  }

  #tellIdle(): void {
    if (this.queuedCount > 0 || this.#writesPending > 0) return;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const callback of waiting) callback();
  }
}

function isRemoval({ operation }: PartitionOp): boolean {
  return operation === StorageOperation.truncate || operation === StorageOperation.purge;
}
