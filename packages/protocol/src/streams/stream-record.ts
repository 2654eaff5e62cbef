import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readRecords } from "../body-codec.ts";
import { type OptionEntries, readOptionsBlock, writeOptionsBlock } from "../options.ts";
import { readTopicRecord, type TopicRecord, writeTopicRecord } from "../topics/topic-record.ts";

/**
 * A stream as replies show it. `createdAt` is micros since the epoch, `byteLength` the bytes of its messages.
 */
export interface StreamRecord {
  readonly id: number;
  readonly createdAt: number;
  readonly topicsCount: number;
  readonly byteLength: number;
  readonly messagesCount: number;
  readonly name: string;
  readonly options: OptionEntries;
}

/** A stream with its topics, sorted by id. */
export interface StreamDetails extends StreamRecord {
  readonly topics: readonly TopicRecord[];
}

/** Shape: id u32, created u64, topics u32, bytes u64, messages u64, name, options block. Section 8.3. */
export function writeStreamRecord(writer: ByteWriter, stream: StreamRecord): void {
  writer.u32(stream.id).u64(stream.createdAt).u32(stream.topicsCount);
  writer.u64(stream.byteLength).u64(stream.messagesCount).name(stream.name);
  writeOptionsBlock(writer, stream.options);
}

/** The counterpart of `writeStreamRecord`. */
export function readStreamRecord(reader: ByteReader): StreamRecord {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    topicsCount: reader.u32(),
    byteLength: reader.u64Number(),
    messagesCount: reader.u64Number(),
    name: reader.name(),
    options: readOptionsBlock(reader),
  };
}

/** Shape: the record, whose count of topics is that of the list, then the topic records. */
export function writeStreamDetails(writer: ByteWriter, stream: StreamDetails): void {
  writeStreamRecord(writer, { ...stream, topicsCount: stream.topics.length });
  for (const topic of stream.topics) writeTopicRecord(writer, topic);
}

/** The counterpart of `writeStreamDetails`. */
export function readStreamDetails(reader: ByteReader): StreamDetails {
  const stream = readStreamRecord(reader);
  return { ...stream, topics: readRecords(reader, readTopicRecord, stream.topicsCount) };
}
