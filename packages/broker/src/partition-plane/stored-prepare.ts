import { baseOffsetAt, batchChecksumAt, type ChecksumKernel } from "@millrace/framing";
import { type BatchCipher, bodyChecksum, type Partition, type StoredPrepare } from "@millrace/storage";
import type { Prepare, PrepareFields } from "@millrace/vsr";
import { NUMBERED_SESSION, type QueuedOp, replicatedOp } from "./partition-op.ts";
import { sealedBatchOf } from "./sealed-batch.ts";

/** What a prepare is made from when it was read back. */
export interface PrepareMaking {
  readonly kernel: ChecksumKernel;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  /** Given where the directory is encrypted, see `GroupContext`. */
  readonly batchCipher?: BatchCipher | undefined;
}

/**
 * The prepare a journaled op was; its body, a `QueuedOp`, holds the batch's lease. Earlier releases said
 * nothing of numbers and of small bodies: the checksum tells which it was.
 */
export function prepareOf(making: PrepareMaking, stored: StoredPrepare): Prepare {
  const { kernel, checksumOf } = making;
  const { header, batchLease, body: bytes, isNumbered, commit } = stored;
  const batchChecksum = batchLease && batchChecksumAt(kernel.memory.view, batchLease.position);
  const session = isNumbered ? NUMBERED_SESSION : 0;
  const sealed = sealedBatchOf(making, batchLease);
  const body = replicatedOp({ ...header, session }, { batchLease, body: bytes, sealed });
  const checksum = batchChecksum ?? bodyChecksum(bytes);
  const baseOffset = batchLease === undefined ? 0 : baseOffsetAt(kernel.memory.view, batchLease.position);
  const place = { opNumber: header.op, timestamp: header.timestamp, baseOffset, bodyChecksum: checksum };
  Object.assign(body, place);
  const prepare = { ...header, session, body, bodyChecksum: checksum };
  const facts = { replica: 0, commit };
  if (checksumOf(prepare) === header.checksum) return { ...prepare, ...facts };
  return { ...prepare, ...facts, session: 0, bodyChecksum: batchChecksum ?? 0n };
}

/**
 * Journaled ops that are not known to be committed, in order; nothing when one lies in no file any more.
 * Their batches stay in the files.
 * @throws CodedError what the disk answers; `PartitionDamaged`
 */
export async function readSuffix(
  making: PrepareMaking,
  partition: Pick<Partition, "committedOp" | "lastOp" | "readPrepare">,
): Promise<readonly Prepare[] | undefined> {
  const suffix: Prepare[] = [];
  for (let op = partition.committedOp + 1; op <= partition.lastOp; op += 1) {
    const stored = await partition.readPrepare(op);
    if (stored === undefined) return undefined;
    const prepare = prepareOf(making, stored);
    stored.batchLease?.release();
    suffix.push(withoutBatch(prepare));
  }
  return suffix;
}

/** What it holds is in the journal. */
function withoutBatch(prepare: Prepare): Prepare {
  const { op: _, ...facts } = prepare.body as QueuedOp;
  const { op } = replicatedOp(prepare, { batchLease: undefined, body: facts.body });
  return { ...prepare, body: { ...facts, op, isReleased: true } };
}
