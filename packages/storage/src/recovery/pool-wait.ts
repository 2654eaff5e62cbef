import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool, Lease } from "@millrace/framing";

/**
 * A lease of at least `length` bytes, waiting until the pool has one. The caller holds no other lease
 * meanwhile, or everyone could wait for everyone.
 * @throws CodedError `MemoryExhausted` when the whole pool is smaller
 */
export async function allocateWaiting(pool: BlockPool, length: number): Promise<Lease> {
  const lengthMax = pool.blocksTotal * pool.blockLength;
  if (length > lengthMax) {
    throw new CodedError(ErrorCode.MemoryExhausted, `A run of ${length} bytes does not fit into the pool.`, {
      details: { length, lengthMax },
    });
  }
  for (;;) {
    const lease = pool.allocate(length);
    if (lease !== undefined) return lease;
    await new Promise<void>((resolve) => pool.onAvailable(resolve));
  }
}
