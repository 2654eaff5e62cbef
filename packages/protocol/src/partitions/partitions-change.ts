import type { ByteReader, ByteWriter } from "@millrace/framing";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** Body of the two commands that change how many partitions a topic has. `partitionsCount` is 1 to 1000. */
export interface PartitionsChange {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitionsCount: number;
}

/** Shape: stream identifier, topic identifier, count u32. */
export function writePartitionsChange(writer: ByteWriter, change: PartitionsChange): void {
  writeTopicTarget(writer, change);
  writer.u32(change.partitionsCount);
}

/** The counterpart of `writePartitionsChange`. */
export function readPartitionsChange(reader: ByteReader): PartitionsChange {
  return { ...readTopicTarget(reader), partitionsCount: reader.u32() };
}
