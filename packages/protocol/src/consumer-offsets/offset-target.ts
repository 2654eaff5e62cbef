import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readPresence } from "../body-codec.ts";
import { type Consumer, readConsumer, writeConsumer } from "../consumer.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** Whose offset in which partition; the start of polls and of every offset command. */
export interface OffsetTarget {
  readonly consumer: Consumer;
  readonly stream: Identifier;
  readonly topic: Identifier;
  /** Undefined means partition 0 for a plain consumer; a group has to name it. */
  readonly partitionId: number | undefined;
}

/** Shape: consumer, stream and topic identifier, `has_partition u8`, `partition u32` (0 when absent). */
export function writeOffsetTarget(writer: ByteWriter, target: OffsetTarget): void {
  writeConsumer(writer, target.consumer);
  writeTopicTarget(writer, target);
  writer.u8(target.partitionId === undefined ? 0 : 1).u32(target.partitionId ?? 0);
}

/** The counterpart of `writeOffsetTarget`. */
export function readOffsetTarget(reader: ByteReader): OffsetTarget {
  const consumer = readConsumer(reader);
  const { stream, topic } = readTopicTarget(reader);
  return { consumer, stream, topic, partitionId: readPartitionId(reader) };
}

/** `has_partition u8`, `partition u32`: the word is there even when nothing is named, and is ignored then. */
export function readPartitionId(reader: ByteReader): number | undefined {
  const named = readPresence(reader);
  const partitionId = reader.u32();
  return named ? partitionId : undefined;
}
