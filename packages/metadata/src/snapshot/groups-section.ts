import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import type { Catalog } from "../catalog/catalog.ts";
import { NamedSet } from "../catalog/named-set.ts";
import type { Topic } from "../catalog/topic.ts";
import type { ConsumerGroup, GroupMember, PendingRevocation } from "../consumer-groups/consumer-group.ts";
import { readMembers } from "./read-members.ts";
import type { Section } from "./section.ts";

/**
 * Consumer groups of the topics that ever had one, by ascending stream and topic, behind a count u32.
 *
 * Topic: stream u32, topic u32, next group id u32, groups by ascending id behind a count u32. Group: id u32,
 * name, generation u64, members by ascending slot behind a count u32. Member: slot u32, client u128, count
 * u32 and its partitions u32, count u32 and its revocations: partition u32, target u32, created u64.
 */
export const groupsSection: Section = {
  id: 4,
  version: 1,
  write(writer, catalog) {
    const topics = topicsWithGroups(catalog);
    writer.u32(topics.length);
    for (const topic of topics) writeTopic(writer, catalog, topic);
  },
  read(reader, catalog) {
    for (let left = reader.u32(); left > 0; left -= 1) readTopic(reader, catalog);
  },
};

function topicsWithGroups({ streams, groups }: Catalog): Topic[] {
  return streams
    .list()
    .flatMap(({ topics }) => topics.list())
    .filter((topic) => groups.nextIdOf(topic) > 0);
}

function writeTopic(writer: ByteWriter, { groups }: Catalog, topic: Topic): void {
  const set = groups.of(topic);
  writer.u32(topic.streamId).u32(topic.id).u32(groups.nextIdOf(topic)).u32(set.size);
  for (const { id, name, generation, members } of set.list()) {
    writer.u32(id).name(name).u64(generation).u32(members.length);
    for (const member of members) writeMember(writer, member);
  }
}

function writeMember(writer: ByteWriter, { slot, client, partitions, revocations }: GroupMember): void {
  writer.u32(slot).u128(client).u32(partitions.length);
  for (const partitionId of partitions) writer.u32(partitionId);
  writer.u32(revocations.length);
  for (const { partitionId, target, createdAt } of revocations) {
    writer.u32(partitionId).u32(target).u64(createdAt);
  }
}

function readTopic(reader: ByteReader, catalog: Catalog): void {
  const { position } = reader;
  const topic = catalog.streams.byId(reader.u32())?.topics.byId(reader.u32());
  const nextId = reader.u32();
  if (topic === undefined || nextId === 0 || catalog.groups.nextIdOf(topic) > 0) {
    throw new WireError("bad_value", position);
  }
  const groups = new NamedSet<ConsumerGroup>();
  readMembers(reader, readGroup, groups);
  if ((groups.list().at(-1)?.id ?? -1) >= nextId) throw new WireError("bad_value", position);
  catalog.groups.restore(topic, nextId, groups);
}

function readGroup(reader: ByteReader): ConsumerGroup {
  const id = reader.u32();
  const name = reader.name();
  const generation = reader.u64Number();
  const members: GroupMember[] = [];
  for (let left = reader.u32(); left > 0; left -= 1) {
    const { position } = reader;
    const member = readMember(reader);
    if (member.slot <= (members.at(-1)?.slot ?? -1)) throw new WireError("bad_value", position);
    members.push(member);
  }
  return { id, name, generation, members };
}

function readMember(reader: ByteReader): GroupMember {
  const slot = reader.u32();
  const client = reader.u128();
  const partitions: number[] = [];
  for (let left = reader.u32(); left > 0; left -= 1) partitions.push(reader.u32());
  const revocations: PendingRevocation[] = [];
  for (let left = reader.u32(); left > 0; left -= 1) {
    revocations.push({ partitionId: reader.u32(), target: reader.u32(), createdAt: reader.u64Number() });
  }
  return { slot, client, partitions, revocations };
}
