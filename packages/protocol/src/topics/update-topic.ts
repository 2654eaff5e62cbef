import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import type { Identifier } from "../identifier.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";
import { readTopicTarget, writeTopicTarget } from "./topic-target.ts";

/** Renames a topic and changes the options that are sent. The reply has no payload. */
export interface UpdateTopic {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly name: string;
  readonly options: OptionEntries;
}

/** Shape: stream identifier, topic identifier, name, options to the end. */
export function encodeUpdateTopic(body: UpdateTopic): Uint8Array {
  return encodeWith(writeUpdateTopic, body);
}

/** The counterpart of `encodeUpdateTopic`; throws WireError. */
export function decodeUpdateTopic(bytes: Uint8Array): UpdateTopic {
  return decodeWith(readUpdateTopic, bytes);
}

function writeUpdateTopic(writer: ByteWriter, body: UpdateTopic): void {
  writeTopicTarget(writer, body);
  writer.name(body.name);
  writeOptionsToEnd(writer, body.options);
}

function readUpdateTopic(reader: ByteReader): UpdateTopic {
  return { ...readTopicTarget(reader), name: reader.name(), options: readOptionsToEnd(reader) };
}
