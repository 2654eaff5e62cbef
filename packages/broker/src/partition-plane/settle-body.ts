import { batchChecksumAt, type Lease } from "@millrace/framing";
import { bodyChecksum, type PartitionIdentity } from "@millrace/storage";
import type { GroupContext } from "./group-context.ts";
import { bodyOf, type QueuedOp } from "./partition-op.ts";

/**
 * Settles what the group agrees on when an operation gets its place and time, and tells its checksum; nothing
 * when there is no memory for it.
 */
export function settleBody(
  context: GroupContext,
  identity: PartitionIdentity,
  queued: QueuedOp,
): bigint | undefined {
  const { batchLease } = queued.op;
  if (batchLease !== undefined) return stamp(context, identity, { queued, batchLease });
  queued.body = bodyOf(queued.op);
  return bodyChecksum(queued.body);
}

/**
 * Gives a batch its place in the partition and, where the directory is encrypted, its stored form: what the
 * group agrees on is what is stored.
 */
function stamp(
  { kernel, batchCipher }: GroupContext,
  identity: PartitionIdentity,
  { queued, batchLease }: { readonly queued: QueuedOp; readonly batchLease: Lease },
): bigint | undefined {
  kernel.stampBatch(batchLease.position, identity.partitionId, queued.baseOffset, queued.timestamp);
  if (batchCipher === undefined) return batchChecksumAt(kernel.memory.view, batchLease.position);
  const storedLease = batchCipher.seal(identity, batchLease);
  queued.storedLease = storedLease;
  return storedLease && batchChecksumAt(kernel.memory.view, storedLease.position);
}
