import type { CodedError } from "@millrace/errors";
import type { Lease } from "@millrace/framing";
import type { OpHeader } from "../op-record/op-header.ts";
import type { SmallOperation } from "../op-record/small-operation.ts";
import type { RememberedRequest } from "../requests/remembered-request.ts";

/**
 * One op on its way through the partition: queued, written, journaled, committed. The one object per request.
 */
export interface OpEntry {
  readonly header: OpHeader;
  /** Purge generation the op's effect belongs to; a purge names the new one. */
  readonly generation: number;
  /** First free offset once this op is in effect. */
  readonly endOffset: number;
  /** The batch, held once until it is written; nothing for other ops and once written. */
  batch: BatchBytes | undefined;
  /** Body and meaning of an op without a batch. */
  readonly small: { readonly body: Uint8Array; readonly operation: SmallOperation } | undefined;
  /** What is remembered of the op's request once it is committed; nothing when its number means nothing. */
  readonly request: RememberedRequest | undefined;
  readonly done: (error?: CodedError) => void;
}

/** The bytes of a batch and what its header says. */
export interface BatchBytes {
  /** Holds the bytes, and perhaps others beside them. */
  readonly lease: Lease;
  /** First byte in the kernel's memory. */
  readonly position: number;
  readonly length: number;
  readonly baseOffset: number;
  readonly count: number;
  readonly timestamp: number;
  readonly checksum: bigint;
}
