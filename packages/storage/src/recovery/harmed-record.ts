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

/** A record that was written to its end and changed afterwards. */
export interface HarmedRecord {
  readonly length: number;
  /** Bytes of it that may hold anything but zeros: what lies behind them cannot have been lost with power. */
  readonly filledLength: number;
}

/** What is known of the op whose record is due. */
export interface DueOp {
  readonly op: number;
  readonly parent: bigint;
  /** Where the messages before it end: offsets that it stores or truncates to do not lie behind that. */
  readonly nextOffset: number;
}

/**
 * The record that lies in `bytes` in full and was changed after it was written; nothing when the bytes are
 * too few, as a torn write leaves them, or cannot be told to be that record.
 *
 * Two of three must agree with the op that is due: the mark, the op's number, the op before. What a process
 * that dies leaves of a write is a beginning, so a record that is there to its end was written.
 */
export function harmedRecord(bytes: Uint8Array, due: DueOp): HarmedRecord | undefined {
  const claim = claimOf(bytes, due);
  if (claim === undefined) return undefined;
  const length = recordLength(bodyLength(claim));
  return bytes.length < length ? undefined : { length, filledLength: filledLength(claim, due) };
}

/** True when the bytes are the header of that record and end before its body does: the write was torn. */
export function isBeginning(bytes: Uint8Array, due: DueOp): boolean {
  const claim = claimOf(bytes, due);
  return claim !== undefined && bytes.length < recordLength(bodyLength(claim));
}

/** What the header says, when two of the three agree with the op that is due. */
function claimOf(bytes: Uint8Array, due: DueOp): RecordClaim | undefined {
  if (bytes.length < RECORD_HEADER_LENGTH) return undefined;
  const claim = readRecordClaim(viewOver(bytes), 0);
  if (claim.kind === RecordKind.checkpoint && claim.op !== due.op) return undefined;
  const agreeing = [claim.hasMagic, claim.op === due.op, claim.parent === due.parent];
  return agreeing.filter(Boolean).length < 2 ? undefined : claim;
}

/** A kind and an operation that do not go together are wrong already: nothing more needs to be there. */
function bodyLength({ kind, operation }: RecordClaim): number {
  const isBatch = operation === StorageOperation.batch;
  return (kind === RecordKind.operation && !isBatch ? smallOperationLength(operation) : undefined) ?? 0;
}

/** Numbers are little-endian: their high bytes are zeros up to the highest value they can have. */
function filledLength(claim: RecordClaim, { op, nextOffset }: DueOp): number {
  const { operation, groupPlace } = claim;
  const length = bodyLength(claim);
  // A batch's record ends with what was committed before its group began.
  if (length === 0) return RECORD_HEADER_LENGTH - 8 + bytesOf(op - groupPlace - 1);
  if (operation === StorageOperation.storeOffset) {
    return RECORD_HEADER_LENGTH + length - 8 + bytesOf(nextOffset - 1);
  }
  if (operation === StorageOperation.truncate) return RECORD_HEADER_LENGTH + bytesOf(nextOffset);
  return RECORD_HEADER_LENGTH + length;
}

/** Bytes of a whole number that are not high zeros; 0 for 0 and below. */
function bytesOf(value: number): number {
  let count = 0;
  for (let rest = value; rest >= 1; rest /= 256) count += 1;
  return count;
}
