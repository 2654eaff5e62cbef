import { ErrorCode } from "@millrace/errors";
import { type Partition, StorageOperation } from "@millrace/storage";
import type { Replica } from "@millrace/vsr";
import { AdmissionQueue } from "../queues/admission-queue.ts";
import { WaitingForView } from "./forwarding/waiting-for-view.ts";
import type { GroupContext } from "./group-context.ts";
import type { PartitionGroup } from "./partition-group.ts";
import { isRemoval, type PartitionOp, type PurgeOp, type QueuedOp, queuedOp } from "./partition-op.ts";
import { answerRepeated, isAbandoned, releaseHold } from "./queued-ending.ts";
import type { SpaceWatch } from "./space-watch.ts";

/**
 * Operations waiting beside those in flight, as a multiple of the pipeline's depth: the reference's number.
 */
const QUEUE_FACTOR = 2;

/** The group whose operations are let in, and what becomes of them. */
export interface AdmissionOptions {
  readonly group: PartitionGroup;
  readonly context: GroupContext;
  readonly space: SpaceWatch;
  /** Numbers and journals an operation for which there is room. */
  prepare(queued: QueuedOp, partition: Partition, replica: Replica): void;
  /** Ends an operation that does not get into the journal. */
  fail(queued: QueuedOp, code: number): void;
  /** Something waits: lets in what can be let in. */
  pump(): void;
}

/**
 * Decides which operations of a partition get into its journal, and when: at once, after a wait, or not.
 *
 * While the pipeline is full they wait here; while that queue is full too, the connection that brought the
 * operation is held. One that waits longer than `admissionTimeoutMs` fails with 58. A purge that is owed goes
 * before everything else.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #group: PartitionGroup;
  readonly #context: GroupContext;
  readonly #queue: AdmissionQueue<QueuedOp>;
  readonly #waiting: WaitingForView | undefined;
  #closedCode: number | undefined = undefined;

  constructor(options: AdmissionOptions) {
    const { group, context } = options;
    this.#options = options;
    this.#group = group;
    this.#context = context;
    const refuse = (queued: QueuedOp) => this.#refuse(queued);
    const { clock, admissionTimeoutMs: timeoutMs, replication } = context;
    const queue = new AdmissionQueue({ clock, timeoutMs, onLate: refuse });
    this.#queue = queue;
    const forwardedOps = replication?.forwardedOps;
    const forget = (queued: QueuedOp) => group.repetitions.end(queued);
    this.#waiting = forwardedOps && new WaitingForView({ group, queue, forwardedOps, refuse, forget });
  }

  /** Operations that wait. */
  get count(): number {
    return this.#queue.count;
  }

  /** It takes no more operations. */
  get isClosed(): boolean {
    return this.#closedCode !== undefined;
  }

  /** A batch that comes now waits for a view to begin, see `WaitingForView`. */
  get awaitsView(): boolean {
    return this.#waiting?.isOpen === true;
  }

  /** Takes an operation; may hold its connection. */
  submit(op: PartitionOp): void {
    const group = this.#group;
    const queued = queuedOp(op);
    if (this.#closedCode !== undefined) {
      this.#options.fail(queued, this.#closedCode);
      return;
    }
    if ((group.isBackup && this.#waiting?.takes(op) !== true) || this.#awaitsPurge(op)) {
      this.#refuse(queued);
      return;
    }
    if (op.isNumbered === true && this.#answersAgain(op)) return;
    if (group.repetitions.overtaken.isLate(op)) {
      this.#refuse(queued);
      return;
    }
    if (op.isNumbered === true && group.repetitions.joins(queued)) return;
    const isTried = isRemoval(op) && group.fault?.code === ErrorCode.DiskFull;
    if (isTried) this.#tryRemoval(queued);
    else if (!this.#prepareAtOnce(queued)) this.#enqueue(queued);
  }

  /** Takes the purge of everything written so far. */
  purge(op: PurgeOp): void {
    this.submit(this.#group.purges.counted(op, this.#mayOwe));
  }

  /** Lets in what waits, as far as there is room; on a backup lets go of it. */
  letIn(partition: Partition, replica: Replica): void {
    const group = this.#group;
    if (group.isBackup) this.#waiting?.letGo();
    // What waited may be what this primary took over: that is known once it is committed.
    if (group.isAhead || group.isSuffixInDoubt) return;
    this.#payPurge(partition, replica);
    while (!group.isBackup && !group.purges.isOwed && group.writeFailure === undefined) {
      if (replica.pipelineFree === 0) break;
      const queued = this.#queue.shift();
      if (queued === undefined) break;
      releaseHold(queued);
      const isLeft = this.#waiting !== undefined && isAbandoned(queued);
      if (isLeft || this.#awaitsPurge(queued.op)) this.#refuse(queued);
      else if (!this.#wasCommittedBefore(queued)) this.#prepareNoted(queued, partition, replica);
    }
  }

  /** What another replica's op of that number took the note of, and was cut away, is noted again. */
  #prepareNoted(queued: QueuedOp, partition: Partition, replica: Replica): void {
    if (queued.op.isNumbered === true && !queued.isNoted) this.#group.repetitions.begin(queued);
    this.#options.prepare(queued, partition, replica);
  }

  /** Refuses what waits. */
  refuseAll(code: number): void {
    for (const queued of this.#queue.drain()) this.#options.fail(queued, code);
  }

  /** Refuses what waits and what comes. */
  close(code: number): void {
    this.#closedCode = code;
    this.refuseAll(code);
  }

  /** What frees space is tried on a full disk too: its record is short. */
  #tryRemoval(queued: QueuedOp): void {
    const { partition, isWriting } = this.#group;
    const goOn = () => {
      if (this.#closedCode === undefined) this.#enqueue(queued);
      else this.#options.fail(queued, this.#closedCode);
    };
    if (isWriting || partition === undefined) goOn();
    else void this.#options.space.resume(partition, true).then(goOn);
  }

  #answersAgain(op: PartitionOp): boolean {
    const { repetitions, replica } = this.#group;
    const original = repetitions.committed(op);
    if (original === undefined) return false;
    answerRepeated(op, original, replica?.view ?? 0);
    return true;
  }

  /** Never admitted: whoever asked may ask the primary, or ask again. */
  #refuse(queued: QueuedOp): void {
    this.#context.deniedTransient.add(1);
    this.#options.fail(queued, ErrorCode.TransientNotAccepted);
  }

  /**
   * Among several replicas a purge may be decided on before a primary has it: what is taken until then would
   * go with it.
   */
  #awaitsPurge({ operation }: PartitionOp): boolean {
    const { partition, purges, replication } = this.#group;
    if (replication === undefined || partition === undefined) return false;
    return operation !== StorageOperation.purge && purges.isAwaitedIn(partition);
  }

  /** Most operations find room and nobody waiting: they need no deadline. */
  #prepareAtOnce(queued: QueuedOp): boolean {
    const group = this.#group;
    const { partition, replica } = group;
    if (partition === undefined || replica === undefined || group.isBackup) return false;
    if (this.#queue.count > 0 || group.purges.isOwed || group.isAhead) return false;
    const failure = partition.fault ?? group.writeFailure;
    if (failure !== undefined || replica.pipelineFree === 0) return false;
    this.#options.prepare(queued, partition, replica);
    return true;
  }

  #enqueue(queued: QueuedOp): void {
    const { op } = queued;
    const isFull = this.#queue.count >= QUEUE_FACTOR * this.#context.prepareQueueDepth;
    queued.isHolding = isFull && op.holder !== undefined;
    this.#queue.push(queued);
    if (queued.isHolding) op.holder?.hold();
    this.#options.pump();
    this.#queue.watch();
  }

  /** Among several replicas whoever is primary by then asks again. */
  readonly #mayOwe = () => this.#closedCode === undefined && this.#group.replication === undefined;

  /** Writes the purge that is owed; one that the files know already is done. */
  #payPurge(partition: Partition, replica: Replica): void {
    const { purges, fault, writeFailure } = this.#group;
    if (!purges.isOwed || fault !== undefined || writeFailure !== undefined) return;
    if (replica.pipelineFree === 0) return;
    const op = purges.takeOwed(partition.purgeGeneration);
    if (op === undefined) return;
    this.#options.prepare(queuedOp(purges.counted(op, this.#mayOwe)), partition, replica);
  }

  /** An operation that was queued before the partition was open may be one that it remembers. */
  #wasCommittedBefore(queued: QueuedOp): boolean {
    if (queued.op.isNumbered !== true || !this.#answersAgain(queued.op)) return false;
    const { repetitions } = queued;
    this.#group.repetitions.end(queued);
    for (const op of repetitions ?? []) this.submit(op);
    return true;
  }
}
