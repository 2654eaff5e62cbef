import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/**
 * What becomes of stored consumer offsets that the damage hides: nothing is repaired unless they are proven;
 * those that can still be read count; all are forgotten.
 */
export const RepairedOffsetsCode = { proven: 1, known: 2, none: 3 } as const;

/**
 * How a repair ended: nothing was damaged, repaired, or stored offsets are in doubt and a choice is needed.
 * On a node of a cluster: it goes on and may be asked about again, or what other nodes have replaced the
 * damage.
 */
export const RepairOutcomeCode = {
  healthy: 0,
  repaired: 1,
  "offsets-in-doubt": 2,
  "under-way": 3,
  fetched: 4,
} as const;

/**
 * Asks a server to make a damaged partition take writes again behind the damage. A command of our own:
 * servers
 * of others do not know it.
 */
export interface RepairPartition {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitionId: number;
  readonly offsets: keyof typeof RepairedOffsetsCode;
}

/** What a repair did. */
export interface RepairPartitionReply {
  readonly outcome: keyof typeof RepairOutcomeCode;
  /** Which stored offsets count now; `proven` when none was in doubt. */
  readonly offsets: keyof typeof RepairedOffsetsCode;
  /** First offset behind everything that was there. */
  readonly nextOffset: number;
  /** What was damaged; empty when nothing was, or it is not known yet. */
  readonly damage: string;
}

/** Shape: stream identifier, topic identifier, partition u32, offsets u8. */
export function encodeRepairPartition(body: RepairPartition): Uint8Array {
  return encodeWith(writeRepairPartition, body);
}

/** The counterpart of `encodeRepairPartition`; throws WireError. */
export function decodeRepairPartition(bytes: Uint8Array): RepairPartition {
  return decodeWith(readRepairPartition, bytes);
}

/** Shape: outcome u8, offsets u8, next offset u64, damage str32. */
export function encodeRepairPartitionReply(reply: RepairPartitionReply): Uint8Array {
  return encodeWith(writeReply, reply);
}

/** The counterpart of `encodeRepairPartitionReply`; throws WireError. */
export function decodeRepairPartitionReply(payload: Uint8Array): RepairPartitionReply {
  return decodeWith(readReply, payload);
}

function writeRepairPartition(writer: ByteWriter, body: RepairPartition): void {
  writeTopicTarget(writer, body);
  writer.u32(body.partitionId);
  writeByteName(writer, RepairedOffsetsCode, body.offsets);
}

function readRepairPartition(reader: ByteReader): RepairPartition {
  const target = { ...readTopicTarget(reader), partitionId: reader.u32() };
  return { ...target, offsets: readByteName(reader, RepairedOffsetsCode) };
}

function writeReply(writer: ByteWriter, reply: RepairPartitionReply): void {
  writeByteName(writer, RepairOutcomeCode, reply.outcome);
  writeByteName(writer, RepairedOffsetsCode, reply.offsets);
  writer.u64(reply.nextOffset).str32(reply.damage);
}

function readReply(reader: ByteReader): RepairPartitionReply {
  return {
    outcome: readByteName(reader, RepairOutcomeCode),
    offsets: readByteName(reader, RepairedOffsetsCode),
    nextOffset: reader.u64Number(),
    damage: reader.str32(),
  };
}
