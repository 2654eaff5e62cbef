import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool, Lease } from "@millrace/framing";

/**
 * A lease of its own on part of a message, inside the kernel's memory: the part itself when the message lies
 * there, a copy of it when the message came on the heap.
 *
 * @throws CodedError TransientNotAccepted when the copy finds no free block
 */
export function leaseInKernelMemory(
  pool: BlockPool,
  messageLease: Lease,
  start: number,
  length: number,
): Lease {
  if (messageLease.position >= 0) return messageLease.part(start, length);
  const blockLease = pool.allocate(length);
  if (blockLease === undefined) {
    throw new CodedError(ErrorCode.TransientNotAccepted, "There is no memory for the batch now.");
  }
  blockLease.bytes.set(messageLease.bytes.subarray(start, start + length));
  const copyLease = blockLease.part(0, length);
  blockLease.release();
  return copyLease;
}
