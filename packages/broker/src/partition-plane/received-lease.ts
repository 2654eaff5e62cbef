import type { BlockPool, Lease } from "@millrace/framing";
import type { ReceivedBody } from "./partition-replication.ts";

/**
 * What another node sent as a lease inside the memory that messages are stored from: where it lies already,
 * or a copy. The caller releases it. Nothing when there is no memory for it.
 */
export function leaseOfReceived(pool: BlockPool, { bytes, lease }: ReceivedBody): Lease | undefined {
  if (lease !== undefined) {
    lease.retain();
    return lease;
  }
  const block = pool.allocate(bytes.length);
  if (block === undefined) return undefined;
  block.bytes.set(bytes);
  const part = block.part(0, bytes.length);
  block.release();
  return part;
}
