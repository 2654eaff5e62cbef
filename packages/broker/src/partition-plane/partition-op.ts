import type { Lease } from "@millrace/framing";
import type { ClientConnection } from "../sessions/client-connection.ts";

/**
 * One operation on its way through a partition's group.
 *
 * A batch comes as a lease of verified, unstamped bytes inside the kernel's memory; the group releases it
 * once, in every outcome. Small operations come with their body as storage wants it. Exactly one of
 * `committed` and `failed` is called.
 */
export interface PartitionOp {
  readonly operation: number;
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  readonly batchLease?: Lease;
  /** A function is asked when the op gets its place in the log: every op before it is accepted then. */
  readonly body?: Uint8Array | (() => Uint8Array);
  /** The connection that is held back when the queue is full; operations of the server itself have none. */
  readonly holder?: ClientConnection;
  /** @param baseOffset  offset of a batch's first message; for small operations the next offset */
  committed(result: { op: number; baseOffset: number; timestamp: number }): void;
  failed(code: number): void;
}

/** An operation with what the group notes about it. */
export interface QueuedOp {
  readonly op: PartitionOp;
  /** True while its connection is held for it. */
  isHolding: boolean;
  baseOffset: number;
}
