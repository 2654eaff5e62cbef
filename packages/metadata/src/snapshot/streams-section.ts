import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { writeOptionsBlock } from "@millrace/protocol";
import { NamedSet } from "../catalog/named-set.ts";
import type { Partition } from "../catalog/partition.ts";
import type { StreamEntry } from "../catalog/stream.ts";
import type { Topic } from "../catalog/topic.ts";
import { optionEntries } from "../options/option-map.ts";
import { readOptionMap } from "../topics/create-topic-op.ts";
import { readTopicSettings, writeTopicSettings } from "../topics/topic-settings-codec.ts";
import { readMembers } from "./read-members.ts";
import type { Section } from "./section.ts";

/**
 * Streams, their topics and the topics' partitions, each by ascending id behind a count u32.
 *
 * Stream: id u32, created u64, revision u64, name, topics. Topic: id u32, created u64, revision u64, name,
 * purge generation u64, explicit options block, derived options block, settings, partitions. Partition: id
 * u32, created u64, revision u64.
 */
export const streamsSection: Section = {
  id: 2,
  version: 1,
  write(writer, { streams }) {
    writer.u32(streams.size);
    for (const stream of streams.list()) writeStream(writer, stream);
  },
  read(reader, { streams }) {
    readMembers(reader, readStream, streams);
  },
};

function writeStream(writer: ByteWriter, stream: StreamEntry): void {
  writer.u32(stream.id).u64(stream.createdAt).u64(stream.revision).name(stream.name);
  writer.u32(stream.topics.size);
  for (const topic of stream.topics.list()) writeTopic(writer, topic);
}

function readStream(reader: ByteReader): StreamEntry {
  const id = reader.u32();
  const createdAt = reader.u64Number();
  const revision = reader.u64Number();
  const name = reader.name();
  const topics = new NamedSet<Topic>();
  readMembers(reader, () => readTopic(reader, id), topics);
  return { id, createdAt, revision, name, topics };
}

function writeTopic(writer: ByteWriter, topic: Topic): void {
  writer.u32(topic.id).u64(topic.createdAt).u64(topic.revision).name(topic.name).u64(topic.purgeGeneration);
  writeOptionsBlock(writer, optionEntries(topic.explicitOptions));
  writeOptionsBlock(writer, optionEntries(topic.derivedOptions));
  writeTopicSettings(writer, topic);
  writer.u32(topic.partitions.length);
  for (const { id, createdAt, revision } of topic.partitions) writer.u32(id).u64(createdAt).u64(revision);
}

function readTopic(reader: ByteReader, streamId: number): Topic {
  return {
    streamId,
    id: reader.u32(),
    createdAt: reader.u64Number(),
    revision: reader.u64Number(),
    name: reader.name(),
    purgeGeneration: reader.u64Number(),
    explicitOptions: readOptionMap(reader),
    derivedOptions: readOptionMap(reader),
    ...readTopicSettings(reader),
    partitions: readPartitions(reader),
  };
}

function readPartitions(reader: ByteReader): Partition[] {
  const count = reader.u32();
  const partitions: Partition[] = [];
  for (let index = 0; index < count; index += 1) {
    const position = reader.position;
    const partition = { id: reader.u32(), createdAt: reader.u64Number(), revision: reader.u64Number() };
    if (partition.id <= (partitions.at(-1)?.id ?? -1)) throw new WireError("bad_value", position);
    partitions.push(partition);
  }
  return partitions;
}
