import type { RememberedRequest } from "@millrace/storage";
import type { Prepare } from "@millrace/vsr";
import type { PartitionOp, QueuedOp } from "./partition-op.ts";

/** True when nobody waits for the outcome any more, and whoever sent it may have sent it elsewhere by now. */
export function isAbandoned({ op, repetitions }: QueuedOp): boolean {
  return op.isLeft === true && repetitions === undefined;
}

/** Lets the connection of an operation that was held for it go on. */
export function releaseHold(queued: QueuedOp): void {
  if (!queued.isHolding) return;
  queued.isHolding = false;
  queued.op.holder?.unhold();
}

/** Answers an operation, and those that repeat it, with a code; each is answered once at most. */
export function answerFailed(queued: QueuedOp, code: number): void {
  if (!queued.isAnswered) queued.op.failed(code);
  queued.isAnswered = true;
  for (const again of queued.repetitions ?? []) again.failed(code);
}

/** Answers an operation that goes on without anybody who waits for it. */
export function answerUnsure(queued: QueuedOp, code: number): void {
  for (const again of queued.repetitions ?? []) again.batchLease?.release();
  answerFailed(queued, code);
  queued.repetitions = undefined;
}

/** Answers an operation, and those that repeat it, with its place in the log. */
export function answerCommitted(queued: QueuedOp, { op, view, timestamp }: Prepare): void {
  const { baseOffset, repetitions } = queued;
  if (!queued.isAnswered) queued.op.committed({ op, view, baseOffset, timestamp, isRepeated: false });
  queued.isAnswered = true;
  for (const again of repetitions ?? [])
    again.committed({ op, view, baseOffset, timestamp, isRepeated: true });
}

/**
 * Answers an operation that is committed already with the place it was given then, and lets go of its batch.
 */
export function answerRepeated(op: PartitionOp, original: RememberedRequest, view: number): void {
  const { op: number, baseOffset, timestamp } = original;
  op.batchLease?.release();
  op.committed({ op: number, view, baseOffset, timestamp, isRepeated: true });
}

/** Lets go of the batches of an operation and of those that repeat it. */
export function releaseBatches(queued: QueuedOp): void {
  queued.op.batchLease?.release();
  queued.storedLease?.release();
  queued.storedLease = undefined;
  queued.isReleased = true;
  for (const again of queued.repetitions ?? []) again.batchLease?.release();
}
