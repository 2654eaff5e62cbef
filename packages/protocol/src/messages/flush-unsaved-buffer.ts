import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** Asks to write a partition to disk. Every 0.9.0 server answers 5: durability is an option of the topic. */
export interface FlushUnsavedBuffer {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitionId: number;
  readonly fsync: boolean;
}

/** Shape: stream identifier, topic identifier, partition u32, fsync u8. */
export function encodeFlushUnsavedBuffer(body: FlushUnsavedBuffer): Uint8Array {
  return encodeWith(writeFlushUnsavedBuffer, body);
}

/** The counterpart of `encodeFlushUnsavedBuffer`; throws WireError. */
export function decodeFlushUnsavedBuffer(bytes: Uint8Array): FlushUnsavedBuffer {
  return decodeWith(readFlushUnsavedBuffer, bytes);
}

function writeFlushUnsavedBuffer(writer: ByteWriter, body: FlushUnsavedBuffer): void {
  writeTopicTarget(writer, body);
  writer.u32(body.partitionId).u8(body.fsync ? 1 : 0);
}

function readFlushUnsavedBuffer(reader: ByteReader): FlushUnsavedBuffer {
  return { ...readTopicTarget(reader), partitionId: reader.u32(), fsync: reader.u8() !== 0 };
}
