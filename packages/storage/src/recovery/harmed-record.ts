import { StorageOperation } from "../op-record/op-header.ts";
import {
  RECORD_HEADER_LENGTH,
  type RecordClaim,
  RecordKind,
  readRecordClaim,
  recordLength,
} from "../op-record/record.ts";
import { smallOperationLength } from "../op-record/small-operation.ts";
import { viewOver } from "../op-record/u64-field.ts";

/** The longest record of an op: a stored offset. */
export const OP_RECORD_LENGTH_MAX = recordLength(13);

/**
 * Length of the record that lies in `bytes` in full and was changed after it was written; 0 when the bytes
 * are too few, as a torn write leaves them, or cannot be told to be that record.
 *
 * Two of three must agree with the op that is due: the mark, the op's number, the op before. What a process
 * that dies leaves of a write is a beginning, so a record that is there to its end was written.
 */
export function harmedRecordLength(
  bytes: Uint8Array,
  due: { readonly op: number; readonly parent: bigint },
): number {
  if (bytes.length < RECORD_HEADER_LENGTH) return 0;
  const claim = readRecordClaim(viewOver(bytes), 0);
  if (claim.kind === RecordKind.checkpoint && claim.op !== due.op) return 0;
  const agreeing = [claim.hasMagic, claim.op === due.op, claim.parent === due.parent];
  if (agreeing.filter(Boolean).length < 2) return 0;
  const length = lengthByKind(claim);
  return bytes.length < length ? 0 : length;
}

/** A kind and an operation that do not go together are wrong already: nothing more needs to be there. */
function lengthByKind({ kind, operation }: RecordClaim): number {
  const isBatch = operation === StorageOperation.batch;
  const body = kind === RecordKind.operation && !isBatch ? smallOperationLength(operation) : undefined;
  return recordLength(body ?? 0);
}
