import { ByteReader, ByteWriter } from "@millrace/framing";
import type { PartitionIdentity } from "@millrace/storage";
import type { CountOrder } from "../../retention/truncation.ts";
import type { OffsetKey } from "../partition-handle.ts";
import type { OpResult } from "../partition-op.ts";

/** What a backup asks the primary of a partition's group: the operation byte of a forwarded request. */
export const ForwardedKind = {
  /** Append the batch. */
  append: 160,
  /** Store an offset. */
  storeOffset: 161,
  /** Forget an offset. */
  deleteOffset: 162,
  /** Store an offset unless it is there already, for polls with auto-commit. */
  moveOffset: 163,
  /** Tell whether the request was seen; nothing is written. */
  findSeen: 164,
  /** Purge: asked by a silent replica, of all others, for what the metadata group has decided. */
  purge: 165,
  /** Cut so many of the oldest sealed segments, which the metadata group has decided. */
  truncate: 166,
  /** Tell whether the replica is in the sender's view, which the sender leads, see `ConfirmedLeads`. */
  confirmLead: 167,
} as const;
/** Byte of a kind. */
export type ForwardedKind = (typeof ForwardedKind)[keyof typeof ForwardedKind];

/** A client's operation on its way from the node that admitted it to the primary of the partition's group. */
export interface ForwardedOp {
  /** The sender's number for it. */
  readonly id: number;
  /** The group's view that the sender is in: a primary of another one does not take it. */
  readonly view: number;
  readonly kind: ForwardedKind;
  readonly client: bigint;
  readonly request: bigint;
  readonly user: number;
  /** See `PartitionOp.isNumbered`. */
  readonly isNumbered: boolean;
  /** See `PartitionOp.session`; 0 or 1 for what is no client's batch. */
  readonly session: number;
  /** The unstamped batch, or what `encodeOffsetWrite` made; lent for the call. */
  readonly body: Uint8Array;
}

/** What the primary says to it. */
export type ForwardedOpAnswer =
  | { readonly kind: "committed"; readonly result: OpResult }
  /**
   * Nothing was written: the offset was there already, the request was not seen, the replica is in that view.
   * `op` is committed.
   */
  | { readonly kind: "nothing"; readonly op: number; readonly view: number }
  | { readonly kind: "refused"; readonly code: number };

/** The way of forwarded operations to other nodes. */
export interface ForwardedOpWire {
  /**
   * @param onDone  called once when the body is not needed any more, also when nothing was sent
   * @returns false when there was no way or no room: then it was not sent
   */
  sendOp(to: number, partition: PartitionIdentity, op: ForwardedOp, onDone?: () => void): boolean;
  sendOpAnswer(
    to: number,
    partition: PartitionIdentity,
    said: { readonly id: number; readonly answer: ForwardedOpAnswer },
  ): void;
}

/** A write of an offset as it travels. */
export interface OffsetWrite {
  readonly key: OffsetKey;
  /** Code with which it is refused unless it repeats one that was done; nothing when it is allowed. */
  readonly refusal: number | undefined;
  /** 0 for one that is forgotten. */
  readonly offset: bigint;
  /** See `StoreOffsetOp`. */
  readonly generation?: number | undefined;
}

const OFFSET_WRITE_LENGTH = 1 + 4 + 4 + 8;
const WITH_GENERATION_LENGTH = OFFSET_WRITE_LENGTH + 8;

/** Kind u8, id u32, refusal u32 (0: none), offset u64; the generation u64 where it is known. */
export function encodeOffsetWrite({ key, refusal, offset, generation }: OffsetWrite): Uint8Array {
  const writer = new ByteWriter(WITH_GENERATION_LENGTH);
  writer
    .u8(key.kind)
    .u32(key.id)
    .u32(refusal ?? 0)
    .u64(offset);
  return (generation === undefined ? writer : writer.u64(generation)).finish();
}

const GENERATION_LENGTH = 8;

/** Number of a purge, u64. */
export function encodePurgeGeneration(generation: number): Uint8Array {
  return new ByteWriter(GENERATION_LENGTH).u64(generation).finish();
}

/** The counterpart of `encodePurgeGeneration`; nothing for what is not of that form. */
export function decodePurgeGeneration(body: Uint8Array): number | undefined {
  return body.length === GENERATION_LENGTH ? new ByteReader(body).u64Number() : undefined;
}

const ORDER_LENGTH = 4 + 8;

/** Segments u32, op of the decision u64. */
export function encodeCountOrder({ segmentsCount, decidedAt }: CountOrder): Uint8Array {
  return new ByteWriter(ORDER_LENGTH).u32(segmentsCount).u64(decidedAt).finish();
}

/** The counterpart of `encodeCountOrder`; nothing for what is not of that form. */
export function decodeCountOrder(body: Uint8Array): CountOrder | undefined {
  if (body.length !== ORDER_LENGTH) return undefined;
  const reader = new ByteReader(body);
  return { kind: "count", segmentsCount: reader.u32(), decidedAt: reader.u64Number() };
}

/** The counterpart of `encodeOffsetWrite`; nothing for what is not of that form. */
export function decodeOffsetWrite(body: Uint8Array): OffsetWrite | undefined {
  const hasGeneration = body.length === WITH_GENERATION_LENGTH;
  if (body.length !== OFFSET_WRITE_LENGTH && !hasGeneration) return undefined;
  const reader = new ByteReader(body);
  const [kind, id, refusal, offset] = [reader.u8(), reader.u32(), reader.u32(), reader.u64()];
  if (kind !== 1 && kind !== 2) return undefined;
  const generation = hasGeneration ? Number(reader.u64()) : undefined;
  return { key: { kind, id }, refusal: refusal === 0 ? undefined : refusal, offset, generation };
}
