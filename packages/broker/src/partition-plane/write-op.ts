import type { AppendDone, BatchFacts, Partition } from "@millrace/storage";
import type { Prepare } from "@millrace/vsr";
import type { QueuedOp } from "./partition-op.ts";

/** Facts of batches that are not encrypted here: one object serves all of them. */
const NUMBERED: BatchFacts = { isNumbered: true };
const SEALED: BatchFacts = { isSealed: true };
const SEALED_AND_NUMBERED: BatchFacts = { isSealed: true, isNumbered: true };

/**
 * Appends what the group agreed to journal, a batch in its stored form where it has one of its own.
 * @param done  called once when the write has ended, as the partition says
 */
export function writeOp(partition: Partition, prepare: Prepare, done: AppendDone): void {
  const queued = prepare.body as QueuedOp;
  const { op, storedLease } = queued;
  const isNumbered = op.isNumbered === true;
  if (storedLease !== undefined) {
    partition.appendBatch(prepare, storedLease, done, { clearLease: op.batchLease, isNumbered });
  } else if (op.batchLease !== undefined) {
    partition.appendBatch(prepare, op.batchLease, done, factsOf(queued, isNumbered));
  } else partition.appendOperation(prepare, queued.body, done, isNumbered);
}

function factsOf({ sealed }: QueuedOp, isNumbered: boolean): BatchFacts | undefined {
  if (sealed !== undefined) return isNumbered ? SEALED_AND_NUMBERED : SEALED;
  return isNumbered ? NUMBERED : undefined;
}
