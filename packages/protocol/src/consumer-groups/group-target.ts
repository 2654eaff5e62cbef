import type { ByteReader, ByteWriter } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** Body of every command that names one consumer group and nothing else. */
export interface GroupTarget {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly group: Identifier;
}

/** Shape: stream, topic and group identifier. */
export function writeGroupTarget(writer: ByteWriter, target: GroupTarget): void {
  writeTopicTarget(writer, target);
  writeIdentifier(writer, target.group);
}

/** The counterpart of `writeGroupTarget`. */
export function readGroupTarget(reader: ByteReader): GroupTarget {
  return { ...readTopicTarget(reader), group: readIdentifier(reader) };
}
