import type { ByteReader, ByteWriter } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";

/** Body of every command that names one topic and nothing else, and the start of many others. */
export interface TopicTarget {
  readonly stream: Identifier;
  readonly topic: Identifier;
}

/** Shape: stream identifier, topic identifier. */
export function writeTopicTarget(writer: ByteWriter, target: TopicTarget): void {
  writeIdentifier(writer, target.stream);
  writeIdentifier(writer, target.topic);
}

/** The counterpart of `writeTopicTarget`. */
export function readTopicTarget(reader: ByteReader): TopicTarget {
  return { stream: readIdentifier(reader), topic: readIdentifier(reader) };
}
