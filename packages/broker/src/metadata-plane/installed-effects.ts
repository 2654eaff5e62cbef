import {
  type Effect,
  type GroupPlace,
  type Metadata,
  type PartitionIdentity,
  purgeGenerationOf,
  type Topic,
} from "@millrace/metadata";

/**
 * What partitions and sessions have to do when one catalog takes the place of another, as if the ops in
 * between had been executed: in this order partitions go, come and are purged; then groups and users.
 */
export function effectsBetween(before: Metadata, after: Metadata): readonly Effect[] {
  return [...partitionEffects(before, after), ...groupEffects(before, after), ...userEffects(before, after)];
}

interface Placed {
  readonly partition: PartitionIdentity;
  readonly topic: Topic;
  readonly generation: number;
}

function* partitionEffects(before: Metadata, after: Metadata): Iterable<Effect> {
  const [old, now] = [partitionsOf(before), partitionsOf(after)];
  for (const [key, { partition }] of old) {
    if (!now.has(key)) yield { kind: "partition-deleted", partition };
  }
  for (const [key, { partition, topic, generation }] of now) {
    const known = old.get(key);
    if (known === undefined) yield { kind: "partition-created", partition, topic };
    if (generation > (known?.generation ?? 0)) yield { kind: "partition-purged", partition, generation };
  }
}

function partitionsOf(catalog: Metadata): Map<string, Placed> {
  const found = new Map<string, Placed>();
  for (const topic of topicsOf(catalog)) {
    for (const one of topic.partitions) {
      const { id: partitionId, revision } = one;
      const partition = { streamId: topic.streamId, topicId: topic.id, partitionId, revision };
      const key = `${topic.streamId}/${topic.id}/${partitionId}-${revision}`;
      found.set(key, { partition, topic, generation: purgeGenerationOf(topic, one) });
    }
  }
  return found;
}

/** A group that lost its topic lost its offsets with the partitions. */
function* groupEffects(before: Metadata, after: Metadata): Iterable<Effect> {
  for (const group of placesOf(before)) {
    if (after.findGroup(group) === undefined) yield { kind: "group-deleted", group };
  }
  for (const group of placesOf(after)) yield { kind: "group-changed", group };
}

function* placesOf(catalog: Metadata): Iterable<GroupPlace> {
  for (const topic of topicsOf(catalog)) {
    for (const { id: groupId } of catalog.groupsOf(topic).list()) {
      yield { streamId: topic.streamId, topicId: topic.id, groupId };
    }
  }
}

function* topicsOf(catalog: Metadata): Iterable<Topic> {
  for (const stream of catalog.streams()) yield* stream.topics.list();
}

function* userEffects(before: Metadata, after: Metadata): Iterable<Effect> {
  const users = new Set([...before.users(), ...after.users()].map(({ id }) => id));
  for (const user of users) yield { kind: "user-changed", user };
}
