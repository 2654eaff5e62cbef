import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readRecords } from "../body-codec.ts";
import { readStreamTarget, type StreamTarget, writeStreamTarget } from "../streams/stream-target.ts";
import { readTopicRecord, type TopicRecord, writeTopicRecord } from "./topic-record.ts";

/** Asks for the topics of a stream. */
export type GetTopics = StreamTarget;

/** The body of a GetTopics request. */
export function encodeGetTopics(body: GetTopics): Uint8Array {
  return encodeWith(writeStreamTarget, body);
}

/** The counterpart of `encodeGetTopics`; throws WireError. */
export function decodeGetTopics(bytes: Uint8Array): GetTopics {
  return decodeWith(readStreamTarget, bytes);
}

/** Shape: count u32, then the records, sorted by id. No topics for a stream that does not exist. */
export function encodeGetTopicsReply(topics: readonly TopicRecord[]): Uint8Array {
  return encodeWith(writeTopicRecords, topics);
}

/** The counterpart of `encodeGetTopicsReply`. Option values are views of `payload`. */
export function decodeGetTopicsReply(payload: Uint8Array): readonly TopicRecord[] {
  return decodeWith(readTopicRecords, payload);
}

function writeTopicRecords(writer: ByteWriter, topics: readonly TopicRecord[]): void {
  writer.u32(topics.length);
  for (const topic of topics) writeTopicRecord(writer, topic);
}

function readTopicRecords(reader: ByteReader): TopicRecord[] {
  return readRecords(reader, readTopicRecord, reader.u32());
}
