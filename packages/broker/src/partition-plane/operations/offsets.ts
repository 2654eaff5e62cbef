import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { ByteWriter } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import type { MovingOffset, PartitionGroup } from "../partition-group.ts";
import type { ClientOp, OffsetKey, OffsetOp, StoredOffset, StoreOffsetOp } from "../partition-handle.ts";
import type { PartitionOp } from "../partition-op.ts";
import type { ShownPartition } from "../shown-partition.ts";
import { settledPartition } from "./settled-partition.ts";

/** See `PartitionHandle.readOffset`. */
export function readOffset(
  group: PartitionGroup,
  { kind, id }: OffsetKey,
  done: (error: CodedError | undefined, found?: StoredOffset) => void,
): void {
  let found: StoredOffset;
  try {
    const partition = settledPartition(group);
    const currentOffset = Math.max(0, partition.committedNextOffset - 1);
    found = { stored: partition.consumerOffset(kind, id), currentOffset };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    done(error);
    return;
  }
  done(undefined, found);
}

/**
 * Refuses a new consumer when the partition remembers as many as it may. @throws CodedError
 * TooManyConsumerOffsets
 */
export function checkOffsetRoom(partition: ShownPartition, { kind, id }: OffsetKey, limit: number): void {
  if (partition.mayStoreConsumerOffset(kind, id)) return;
  const text = `The partition remembers ${limit} consumers at most.`;
  throw new CodedError(ErrorCode.TooManyConsumerOffsets, text, { details: { limit } });
}

/** See `PartitionHandle.storeOffset`. */
export function storeOffset(group: PartitionGroup, offsetsMax: number, op: StoreOffsetOp): void {
  const storing = storeOp(group, op);
  submitUnless(group, storing, op, () => {
    const partition = settledPartition(group);
    if (partition.offsetsFault !== undefined) throw partition.offsetsFault;
    if (group.purges.isUnderWay) {
      const text = "The partition is being purged: the offset would stand for other messages behind it.";
      throw new CodedError(ErrorCode.TransientNotAccepted, text);
    }
    checkOffsetExists(group, partition, op.offset);
    checkOffsetRoom(partition, op.key, offsetsMax);
  });
}

/**
 * What lies beyond the readable end was never read, except while a new primary does not know yet that what
 * it holds is committed. @throws CodedError InvalidOffset; 58 in that case
 */
function checkOffsetExists(group: PartitionGroup, partition: ShownPartition, offset: bigint): void {
  if (offset < BigInt(partition.committedNextOffset)) return;
  const mayBeCommitted = group.replication !== undefined && offset < BigInt(partition.nextOffset);
  if (mayBeCommitted) throw new CodedError(ErrorCode.TransientNotAccepted);
  throw new CodedError(ErrorCode.InvalidOffset, "The offset lies beyond the last message.");
}

/** See `PartitionHandle.storeOffsetForward`. */
export function storeOffsetForward(
  group: PartitionGroup,
  op: StoreOffsetOp,
  nothingToMove: () => void,
): void {
  const { kind, id } = op.key;
  const { offsetsUnderWay } = group;
  const key = kind * KEYS_PER_KIND + id;
  const offset = Number(op.offset);
  let isStored = false;
  const code = codeOf(() => {
    const partition = settledPartition(group);
    // One that is accepted may be lost yet, one that is committed may be on its way back.
    const offsets = [partition.acceptedConsumerOffset(kind, id), partition.consumerOffset(kind, id)];
    isStored = isPurged(group, op) || offsets.every((one) => (one ?? -1) >= offset);
  });
  if (code !== undefined) {
    op.failed(code);
    return;
  }
  const other = offsetsUnderWay.get(key);
  if (isStored) nothingToMove();
  else if (other !== undefined && other.offset >= offset)
    other.waiting.push({ committed: nothingToMove, failed: op.failed });
  else moveOffset(group, key, op);
}

/** Stores an offset; others that want no more than this one wait for it. */
function moveOffset(group: PartitionGroup, key: number, op: StoreOffsetOp): void {
  const { kind, id } = op.key;
  const { offsetsUnderWay } = group;
  const underWay: MovingOffset = { offset: Number(op.offset), waiting: [] };
  offsetsUnderWay.set(key, underWay);
  const ended = () => {
    if (offsetsUnderWay.get(key) === underWay) offsetsUnderWay.delete(key);
    return underWay.waiting.splice(0);
  };
  const storing = storeOp(group, {
    ...op,
    committed(result) {
      const others = ended();
      op.committed(result);
      for (const { committed } of others) committed();
    },
    failed(code) {
      const others = ended();
      op.failed(code);
      for (const { failed } of others) failed(code);
    },
  });
  // What got its place before this one may be further ahead.
  const body = () => {
    const accepted = group.partition?.acceptedConsumerOffset(kind, id) ?? -1;
    return accepted > underWay.offset ? storeBody({ ...op, offset: BigInt(accepted) }) : storeBody(op);
  };
  group.submit({ ...storing, body });
}

/** Another node has read what a purge took away that it has not heard of. */
function isPurged({ partition, purges }: PartitionGroup, { generation }: StoreOffsetOp): boolean {
  if (generation === undefined || partition === undefined) return false;
  return Math.max(partition.purgeGeneration, purges.decided) > generation;
}

/** See `PartitionHandle.deleteOffset`. */
export function deleteOffset(group: PartitionGroup, op: OffsetOp): void {
  const { kind, id } = op.key;
  const body = new ByteWriter(DELETE_LENGTH).u8(kind).u32(id).finish();
  const deleting = { ...clientPart(op), operation: Operation.DeleteConsumerOffset, body };
  submitUnless(group, deleting, op, () => {
    const partition = settledPartition(group);
    if (partition.consumerOffset(kind, id) !== undefined) return;
    if (partition.acceptedConsumerOffset(kind, id) !== undefined) return;
    throw new CodedError(ErrorCode.ConsumerOffsetNotFound, "No offset is stored for the consumer.");
  });
}

/**
 * What was done already may no longer be allowed; it is confirmed, not done again, so nothing is checked. Nor
 * is anything on a backup, which may be behind: it refuses whatever it is asked.
 */
function submitUnless(group: PartitionGroup, submitted: PartitionOp, op: OffsetOp, check: () => void): void {
  const isChecked = !group.isBackup && group.repetitions.committed(submitted) === undefined;
  const code = isChecked ? (op.refusal ?? codeOf(check)) : undefined;
  if (code === undefined) group.submit(submitted);
  else op.failed(code);
}

/**
 * Fails with 3024 when other new consumers, on their way at the same time, took the room that was there when
 * it was asked for: then nothing was stored.
 */
function storeOp(group: PartitionGroup, op: StoreOffsetOp): PartitionOp {
  const { kind, id } = op.key;
  return {
    ...clientPart(op),
    operation: Operation.StoreConsumerOffset,
    body: storeBody(op),
    committed(result) {
      const isStored = result.isRepeated || group.partition?.consumerOffset(kind, id) !== undefined;
      if (isStored) op.committed(result);
      else op.failed(ErrorCode.TooManyConsumerOffsets);
    },
  };
}

function storeBody({ key: { kind, id }, offset }: Pick<StoreOffsetOp, "key" | "offset">): Uint8Array {
  return new ByteWriter(STORE_LENGTH).u8(kind).u32(id).u64(offset).finish();
}

/** Kind, id, offset; kind, id: the bodies as storage keeps them. */
const STORE_LENGTH = 1 + 4 + 8;
const DELETE_LENGTH = 1 + 4;

/** Ids of consumers and of groups are u32 each. */
const KEYS_PER_KIND = 2 ** 32;

function clientPart({ client, request, user, isNumbered, committed, failed }: ClientOp): ClientOp {
  return { client, request, user, isNumbered, committed, failed };
}

/** Code of the `CodedError` that `check` throws, if it does. */
function codeOf(check: () => void): number | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return error.code;
  }
}
