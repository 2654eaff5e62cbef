import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** What is wrong at a damaged place, by its byte. */
export const DamageKindCode = { batch: 1, record: 2, short: 3, missing: 4 } as const;

/** Where a verification goes on; zeros are the beginning. Positions are bytes. */
export interface VerifyPlace {
  /** First offset of the segment. */
  readonly segment: number;
  readonly opsPosition: number;
  readonly logPosition: number;
}

/**
 * Asks a server to check the next stretch of a partition's files. A command of our own: servers of others do
 * not know it.
 */
export interface VerifyPartition {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitionId: number;
  readonly from: VerifyPlace;
  /** Bytes after which the step ends; 0 leaves it to the server, which also bounds it. */
  readonly lengthMax: number;
}

/** One damaged place: file relative to the data directory, byte in it, offset of the batch when known. */
export interface VerifyDamage {
  readonly kind: keyof typeof DamageKindCode;
  readonly path: string;
  readonly position: number;
  readonly offset: number | undefined;
}

/** What one step looked at and found. */
export interface VerifyPartitionReply {
  readonly bytes: number;
  readonly batches: number;
  readonly messages: number;
  /** Where the next step begins; undefined at the end. */
  readonly next: VerifyPlace | undefined;
  /** Why the partition takes no writes; empty when it does. */
  readonly fault: string;
  readonly damages: readonly VerifyDamage[];
}

/** Shape: stream identifier, topic identifier, partition u32, place, length limit u32. */
export function encodeVerifyPartition(body: VerifyPartition): Uint8Array {
  return encodeWith(writeVerifyPartition, body);
}

/** The counterpart of `encodeVerifyPartition`; throws WireError. */
export function decodeVerifyPartition(bytes: Uint8Array): VerifyPartition {
  return decodeWith(readVerifyPartition, bytes);
}

/**
 * Shape: bytes u64, batches u64, messages u64, has next u8 (then a place: segment u64, ops position u64, log
 * position u64), fault str32, count u32 of damages: kind u8, position u64, has offset u8 (then u64), path
 * str32.
 */
export function encodeVerifyPartitionReply(reply: VerifyPartitionReply): Uint8Array {
  return encodeWith(writeReply, reply);
}

/** The counterpart of `encodeVerifyPartitionReply`; throws WireError. */
export function decodeVerifyPartitionReply(payload: Uint8Array): VerifyPartitionReply {
  return decodeWith(readReply, payload);
}

function writeVerifyPartition(writer: ByteWriter, body: VerifyPartition): void {
  writeTopicTarget(writer, body);
  writer.u32(body.partitionId);
  writePlace(writer, body.from);
  writer.u32(body.lengthMax);
}

function readVerifyPartition(reader: ByteReader): VerifyPartition {
  const target = { ...readTopicTarget(reader), partitionId: reader.u32() };
  return { ...target, from: readPlace(reader), lengthMax: reader.u32() };
}

function writePlace(writer: ByteWriter, place: VerifyPlace): void {
  writer.u64(place.segment).u64(place.opsPosition).u64(place.logPosition);
}

function readPlace(reader: ByteReader): VerifyPlace {
  return {
    segment: reader.u64Number(),
    opsPosition: reader.u64Number(),
    logPosition: reader.u64Number(),
  };
}

function writeReply(writer: ByteWriter, reply: VerifyPartitionReply): void {
  writer.u64(reply.bytes).u64(reply.batches).u64(reply.messages);
  writer.u8(reply.next === undefined ? 0 : 1);
  if (reply.next !== undefined) writePlace(writer, reply.next);
  writer.str32(reply.fault).u32(reply.damages.length);
  for (const damage of reply.damages) writeDamage(writer, damage);
}

function readReply(reader: ByteReader): VerifyPartitionReply {
  const counts = { bytes: reader.u64Number(), batches: reader.u64Number(), messages: reader.u64Number() };
  const next = reader.u8() === 0 ? undefined : readPlace(reader);
  const fault = reader.str32();
  return { ...counts, next, fault, damages: readRecords(reader, readDamage, reader.u32()) };
}

function writeDamage(writer: ByteWriter, damage: VerifyDamage): void {
  writeByteName(writer, DamageKindCode, damage.kind);
  writer.u64(damage.position).u8(damage.offset === undefined ? 0 : 1);
  if (damage.offset !== undefined) writer.u64(damage.offset);
  writer.str32(damage.path);
}

function readDamage(reader: ByteReader): VerifyDamage {
  const kind = readByteName(reader, DamageKindCode);
  const position = reader.u64Number();
  const offset = reader.u8() === 0 ? undefined : reader.u64Number();
  return { kind, path: reader.str32(), position, offset };
}
