import { type ChecksumKernel, type Lease, messageCountAt } from "@millrace/framing";
import { SEAL_LENGTH } from "@millrace/platform";
import type { BatchCipher } from "@millrace/storage";
import type { SealedBatch } from "./partition-op.ts";

/**
 * What is known of a batch that came from another replica or from the files, where those are encrypted;
 * nothing where they are not.
 */
export function sealedBatchOf(
  context: { readonly kernel: ChecksumKernel; readonly batchCipher?: BatchCipher | undefined },
  batchLease: Lease | undefined,
): SealedBatch | undefined {
  if (context.batchCipher === undefined || batchLease === undefined) return undefined;
  const { length, position } = batchLease;
  return {
    sentLength: length - SEAL_LENGTH,
    count: messageCountAt(context.kernel.memory.view, position),
  };
}
