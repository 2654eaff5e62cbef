import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";
import { readTopicDetails, type TopicDetails, writeTopicDetails } from "./topic-record.ts";

/** Creates a topic. Keys that are not sent get the defaults of the catalog. */
export interface CreateTopic {
  readonly stream: Identifier;
  /** 0 to 1000; a topic without partitions accepts no messages until it gets some. */
  readonly partitionsCount: number;
  readonly name: string;
  readonly options: OptionEntries;
}

/** Shape: stream identifier, partitions u32, name, options to the end. */
export function encodeCreateTopic(body: CreateTopic): Uint8Array {
  return encodeWith(writeCreateTopic, body);
}

/** The counterpart of `encodeCreateTopic`; throws WireError. */
export function decodeCreateTopic(bytes: Uint8Array): CreateTopic {
  return decodeWith(readCreateTopic, bytes);
}

/** The created topic and its partitions. */
export function encodeCreateTopicReply(topic: TopicDetails): Uint8Array {
  return encodeWith(writeTopicDetails, topic);
}

/** The counterpart of `encodeCreateTopicReply`. */
export function decodeCreateTopicReply(payload: Uint8Array): TopicDetails {
  return decodeWith(readTopicDetails, payload);
}

function writeCreateTopic(writer: ByteWriter, body: CreateTopic): void {
  writeIdentifier(writer, body.stream);
  writer.u32(body.partitionsCount).name(body.name);
  writeOptionsToEnd(writer, body.options);
}

function readCreateTopic(reader: ByteReader): CreateTopic {
  return {
    stream: readIdentifier(reader),
    partitionsCount: reader.u32(),
    name: reader.name(),
    options: readOptionsToEnd(reader),
  };
}
