import { ByteReader, ByteWriter } from "@millrace/framing";
import type { GroupPlace, PendingRevocation } from "./consumer-group.ts";

/** Operation 67: one pending revocation is over, because its owner is done or its time is up. */
export interface CompleteRevocationOp extends GroupPlace, PendingRevocation {
  /** Slot of the member that owns the partition. */
  readonly source: number;
}

/** Shape: stream u32, topic u32, group u32, partition u32, source u32, target u32, created u64. */
export function encodeCompleteRevocationOp(op: CompleteRevocationOp): Uint8Array {
  return new ByteWriter()
    .u32(op.streamId)
    .u32(op.topicId)
    .u32(op.groupId)
    .u32(op.partitionId)
    .u32(op.source)
    .u32(op.target)
    .u64(op.createdAt)
    .finish();
}

/**
 * The counterpart of `encodeCompleteRevocationOp`.
 * @throws WireError
 */
export function decodeCompleteRevocationOp(bytes: Uint8Array): CompleteRevocationOp {
  const reader = new ByteReader(bytes);
  const op = {
    streamId: reader.u32(),
    topicId: reader.u32(),
    groupId: reader.u32(),
    partitionId: reader.u32(),
    source: reader.u32(),
    target: reader.u32(),
    createdAt: reader.u64Number(),
  };
  reader.finish();
  return op;
}

/** Body of operation 66. Shape: client u128. */
export function encodeRemoveMemberOp(client: bigint): Uint8Array {
  return new ByteWriter().u128(client).finish();
}

/**
 * The counterpart of `encodeRemoveMemberOp`.
 * @throws WireError
 */
export function decodeRemoveMemberOp(bytes: Uint8Array): bigint {
  const reader = new ByteReader(bytes);
  const client = reader.u128();
  reader.finish();
  return client;
}
