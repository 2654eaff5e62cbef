import type { ByteReader, ByteWriter } from "@millrace/framing";
import type { RetentionFacts } from "../retention/retention-plan.ts";
import type { RetentionLook, Truncation, TruncationOrder } from "../retention/truncation.ts";

/** The kinds of an order, by their byte. */
const Order = { count: 1, policy: 2 } as const;

/**
 * Shape: kind u8; for a count u32 and the op of the decision u64; for a policy whether it has an expiry u8,
 * expiry micros u64, whether it has a limit u8, limit u64.
 */
export function writeOrder(writer: ByteWriter, order: TruncationOrder): void {
  writer.u8(Order[order.kind]);
  if (order.kind === "count") {
    writer.u32(order.segmentsCount).u64(order.decidedAt);
    return;
  }
  writeOptional(writer, order.policy.expiryMicros);
  writeOptional(writer, order.policy.sealedLengthMax);
}

/** The counterpart of `writeOrder`. */
export function readOrder(reader: ByteReader): TruncationOrder {
  if (reader.u8() === Order.count) {
    return { kind: "count", segmentsCount: reader.u32(), decidedAt: reader.u64Number() };
  }
  const expiryMicros = readOptional(reader);
  const sealedLengthMax = readOptional(reader);
  return { kind: "policy", policy: { expiryMicros, sealedLengthMax, isBudgetRaised: false } };
}

/** Shape: segments u32, messages u64, bytes u64, first offset u64. */
export function writeTruncation(writer: ByteWriter, truncation: Truncation): void {
  const { segmentsCount, messagesCount, byteLength, firstOffset } = truncation;
  writer.u32(segmentsCount).u64(messagesCount).u64(byteLength).u64(firstOffset);
}

/** The counterpart of `writeTruncation`. */
export function readTruncation(reader: ByteReader): Truncation {
  return {
    segmentsCount: reader.u32(),
    messagesCount: reader.u64Number(),
    byteLength: reader.u64Number(),
    firstOffset: reader.u64Number(),
  };
}

/**
 * Shape: fault u32, first offset u64, whether there are facts u8; then count u32 of segments: first offset
 * u64, last offset u64, length u64, timestamp u64; count u32 of offsets: kind u8, id u32, offset u64.
 */
export function writeLook(writer: ByteWriter, { faultCode, firstOffset, facts }: RetentionLook): void {
  writer
    .u32(faultCode)
    .u64(firstOffset)
    .u8(facts === undefined ? 0 : 1);
  if (facts === undefined) return;
  writer.u32(facts.sealed.length);
  for (const segment of facts.sealed) {
    writer.u64(segment.firstOffset).u64(segment.lastOffset).u64(segment.length).u64(segment.lastTimestamp);
  }
  writer.u32(facts.offsets.length);
  for (const { consumerKind, id, offset } of facts.offsets) writer.u8(consumerKind).u32(id).u64(offset);
}

/** The counterpart of `writeLook`. */
export function readLook(reader: ByteReader): RetentionLook {
  const faultCode = reader.u32();
  const firstOffset = reader.u64Number();
  return { faultCode, firstOffset, facts: reader.u8() === 0 ? undefined : readFactsOf(reader) };
}

function readFactsOf(reader: ByteReader): RetentionFacts {
  const sealed = Array.from({ length: reader.u32() }, () => ({
    firstOffset: reader.u64Number(),
    lastOffset: reader.u64Number(),
    length: reader.u64Number(),
    lastTimestamp: reader.u64Number(),
  }));
  const offsets = Array.from({ length: reader.u32() }, () => ({
    consumerKind: reader.u8() === 1 ? (1 as const) : (2 as const),
    id: reader.u32(),
    offset: reader.u64Number(),
  }));
  return { sealed, offsets };
}

function writeOptional(writer: ByteWriter, value: number | undefined): void {
  writer.u8(value === undefined ? 0 : 1).u64(value ?? 0);
}

function readOptional(reader: ByteReader): number | undefined {
  const isThere = reader.u8() === 1;
  const value = reader.u64Number();
  return isThere ? value : undefined;
}
