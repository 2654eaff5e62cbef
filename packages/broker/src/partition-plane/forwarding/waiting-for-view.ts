import type { AdmissionQueue } from "../../queues/admission-queue.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { BatchOp } from "../partition-handle.ts";
import { type PartitionOp, type QueuedOp, queuedOp } from "../partition-op.ts";
import { isAbandoned, releaseHold } from "../queued-ending.ts";
import type { ForwardedOps } from "./forwarded-ops.ts";

/** What waits of a partition that this node does not lead, and what becomes of it. */
export interface WaitingForViewOptions {
  readonly group: PartitionGroup;
  readonly queue: AdmissionQueue<QueuedOp>;
  readonly forwardedOps: ForwardedOps;
  /** Answers an operation with 58. */
  refuse(queued: QueuedOp): void;
  /** An operation is no longer under way here. */
  forget(queued: QueuedOp): void;
}

/**
 * Batches that wait on a backup: while no view has begun, and for the moment in which it has asked to lead.
 * They are written here when it comes to lead, else passed on, in their order and before what comes later.
 *
 * Other operations are refused: what was checked for them may be otherwise by then. What another node has
 * passed on is not passed on again, nor is that of a client which has left: it may have sent it elsewhere.
 */
export class WaitingForView {
  readonly #options: WaitingForViewOptions;
  #isLettingGo = false;

  constructor(options: WaitingForViewOptions) {
    this.#options = options;
  }

  /** True when a batch that comes now has to wait. */
  get isOpen(): boolean {
    const { group, queue } = this.#options;
    const { replica } = group;
    if (replica === undefined || replica.isPrimary) return false;
    return this.#mustWait || queue.count > 0 || this.#isLettingGo;
  }

  /** True for a batch that has to wait. */
  takes(op: PartitionOp): boolean {
    return op.batchLease !== undefined && this.isOpen;
  }

  /** Lets go of what need not wait any more; to be called on a backup whenever something has changed. */
  letGo(): void {
    const { queue, refuse } = this.#options;
    if (queue.count === 0 || this.#isLettingGo) return;
    this.#isLettingGo = true;
    const isRefused = (queued: QueuedOp) =>
      queued.op.batchLease === undefined || queued.op.isPassedOn === true || isAbandoned(queued);
    for (const queued of queue.takeWhere(isRefused)) refuse(queued);
    while (!this.#mustWait) {
      const queued = queue.shift();
      if (queued === undefined) break;
      this.#passOn(queued);
    }
    this.#isLettingGo = false;
  }

  get #mustWait(): boolean {
    const { replica } = this.#options.group;
    return replica?.status !== "normal" || replica.asksToLead;
  }

  #passOn(queued: QueuedOp): void {
    const { group, forwardedOps, refuse, forget } = this.#options;
    forget(queued);
    const again = queued.repetitions ?? [];
    queued.repetitions = undefined;
    for (const op of [queued.op, ...again]) {
      if (op.isPassedOn === true) refuse(queuedOp(op));
      else forwardedOps.append(group, op as BatchOp);
    }
    releaseHold(queued);
  }
}
