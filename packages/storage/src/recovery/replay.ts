import { SEAL_LENGTH } from "@millrace/platform";
import { NUMBERED_FLAG } from "../op-record/checkpoint.ts";
import { type OpRecord, RecordKind, standsBehindOp } from "../op-record/record.ts";
import { decodeSmallOperation } from "../op-record/small-operation.ts";
import { successorOf } from "../op-record/successor-mark.ts";
import type { Commits } from "../partition/commits.ts";
import type { OpEntry } from "../partition/op-entry.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import {
  type RememberedRequest,
  rememberedOperation,
  rememberedRequest,
} from "../requests/remembered-request.ts";
import type { Segment } from "../segment/segment.ts";

function nothing(): void {}

/** True when the record is an op (or one that stands behind the op) that can follow what was replayed. */
export function isNext(state: PartitionState, segment: Segment, record: OpRecord): boolean {
  const { journaled } = state;
  if (record.kind === RecordKind.successor) return true;
  if (standsBehindOp(record)) return record.header.op === journaled.op;
  if (record.header.op !== journaled.op + 1) return false;
  if (record.header.parent !== journaled.opChecksum) return false;
  if (record.kind === RecordKind.operation) return true;
  const { place } = record;
  return (
    record.kind === RecordKind.batch &&
    place.position === segment.logLength &&
    place.baseOffset === segment.endOffset &&
    place.count > 0
  );
}

/**
 * Takes a good record into the state: journaled, and committed as far as the record says that it was.
 * The body is copied; `position` is where the record lies in the `.ops`.
 * @throws CodedError `InvalidCommand` when the body of a small op does not decode
 */
export function replayRecord(
  state: PartitionState,
  commits: Commits,
  segment: Segment,
  record: OpRecord,
  position: number,
): void {
  segment.opsLength = position + record.length;
  segment.successor = successorOf(record);
  if (record.kind === RecordKind.commitMark) commits.commit(record.commit);
  if (standsBehindOp(record)) return;
  const entry = entryOf(state, record);
  if (record.kind === RecordKind.batch) growSegment(segment, record);
  const { header } = record;
  state.uncommitted.push(entry);
  state.journaled = {
    op: header.op,
    opChecksum: header.checksum,
    view: header.view,
    timestamp: header.timestamp,
    nextOffset: entry.endOffset,
    generation: entry.generation,
  };
  commits.commit(record.commit);
}

function isNumbered({ flags }: OpRecord): boolean {
  return (flags & NUMBERED_FLAG) !== 0;
}

function rememberedBatch({ isEncrypted }: PartitionState, record: OpRecord): RememberedRequest | undefined {
  if (!isNumbered(record)) return undefined;
  const { baseOffset, count, length, checksum } = record.place;
  return isEncrypted
    ? rememberedRequest(record.header, {
        baseOffset,
        count,
        length: length - SEAL_LENGTH,
        checksum: undefined,
      })
    : rememberedRequest(record.header, { baseOffset, count, length, checksum });
}

function growSegment(segment: Segment, { header, place }: OpRecord): void {
  segment.index?.note(place.baseOffset, header.timestamp, place.position);
  segment.logLength = place.position + place.length;
  segment.endOffset = place.baseOffset + place.count;
  segment.lastTimestamp = header.timestamp;
}

function entryOf(state: PartitionState, record: OpRecord): OpEntry {
  const { header, place } = record;
  const { nextOffset, generation } = state.journaled;
  if (record.kind === RecordKind.batch) {
    const endOffset = place.baseOffset + place.count;
    const request = rememberedBatch(state, record);
    return { header, generation, endOffset, batch: undefined, small: undefined, request, done: nothing };
  }
  const body = record.body.slice();
  const operation = decodeSmallOperation(header.operation, body);
  const purged = operation.kind === "purge";
  return {
    header,
    generation: purged ? operation.generation : generation,
    endOffset: purged ? 0 : nextOffset,
    batch: undefined,
    small: { body, operation },
    request: isNumbered(record) ? rememberedOperation(header, body) : undefined,
    done: nothing,
  };
}
