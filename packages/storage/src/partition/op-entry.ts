import type { CodedError } from "@millrace/errors";
import type { OpHeader } from "../op-record/op-header.ts";
import type { SmallOperation } from "../op-record/small-operation.ts";
import type { RememberedRequest } from "../requests/remembered-request.ts";
import type { TailBatch } from "../tail-cache/tail-cache.ts";

/**
 * Called once per op, in op order: without an error once the op is as safe as the topic asks for.
 *
 * `header` is the op's own, as it was given. `more` ops of the same write hear of it right behind this one,
 * in the same call: what is to be done once for all of them is done when there are no more.
 */
export type AppendDone = (error: CodedError | undefined, header: OpHeader, more: number) => void;

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
  readonly done: AppendDone;
}

/** The bytes of a batch that is to be written, and what its header says. */
export interface BatchBytes extends TailBatch {
  length: number;
  readonly count: number;
  readonly checksum: bigint;
}
