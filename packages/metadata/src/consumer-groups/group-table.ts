import { NamedSet, type NamedSetView } from "../catalog/named-set.ts";
import type { Topic } from "../catalog/topic.ts";
import type { ConsumerGroup, GroupPlace } from "./consumer-group.ts";

/** Groups of one topic and the id the next one gets. */
interface TopicGroups {
  readonly groups: NamedSet<ConsumerGroup>;
  nextId: number;
}

const NO_GROUPS: NamedSetView<ConsumerGroup> = new NamedSet<ConsumerGroup>();

/** Every consumer group, by topic, and which groups each client is a member of. */
export class GroupTable {
  /** By the op that created the topic, which names it for all time. */
  readonly #byTopic = new Map<number, TopicGroups>();
  readonly #byClient = new Map<bigint, Map<string, GroupPlace>>();
  #count = 0;

  /** Groups of all topics. */
  get count(): number {
    return this.#count;
  }

  /** The groups of a topic. */
  of(topic: Topic): NamedSetView<ConsumerGroup> {
    return this.#byTopic.get(topic.revision)?.groups ?? NO_GROUPS;
  }

  /** Id the next group of the topic gets; 0 when there never was one. */
  nextIdOf(topic: Topic): number {
    return this.#byTopic.get(topic.revision)?.nextId ?? 0;
  }

  /** Groups a client is a member of, by ascending place. */
  membershipsOf(client: bigint): readonly GroupPlace[] {
    const places = this.#byClient.get(client);
    return places === undefined ? [] : [...places.values()].sort(byPlace);
  }

  /** How many groups a client is a member of. */
  membershipsCountOf(client: bigint): number {
    return this.#byClient.get(client)?.size ?? 0;
  }

  /** Every client that is a member of a group. */
  clients(): Iterable<bigint> {
    return this.#byClient.keys();
  }

  /** Adds a group without members under the next id. Its name is free. */
  create(topic: Topic, name: string): ConsumerGroup {
    const entry = this.#entry(topic);
    const group: ConsumerGroup = { id: entry.nextId, name, generation: 0, members: [] };
    entry.nextId += 1;
    entry.groups.add(group);
    this.#count += 1;
    return group;
  }

  /** Puts back what a snapshot holds of a topic that has no groups yet. */
  restore(topic: Topic, nextId: number, groups: NamedSet<ConsumerGroup>): void {
    this.#byTopic.set(topic.revision, { nextId, groups });
    this.#count += groups.size;
    for (const group of groups.list()) this.#index(topic, group);
  }

  /** Puts a group in the place of the one with its id. */
  replace(topic: Topic, group: ConsumerGroup): void {
    const { groups } = this.#entry(topic);
    this.#unindex(topic, groups.byId(group.id));
    groups.replace(group);
    this.#index(topic, group);
  }

  remove(topic: Topic, group: ConsumerGroup): void {
    this.#unindex(topic, group);
    this.#entry(topic).groups.remove(group);
    this.#count -= 1;
  }

  /** Forgets the groups of a topic that is being deleted, and that it ever had any. */
  removeTopic(topic: Topic): readonly GroupPlace[] {
    const groups = this.of(topic).list();
    for (const group of groups) this.remove(topic, group);
    this.#byTopic.delete(topic.revision);
    return groups.map((group) => placeOf(topic, group));
  }

  #entry(topic: Topic): TopicGroups {
    let entry = this.#byTopic.get(topic.revision);
    if (entry === undefined) {
      entry = { groups: new NamedSet<ConsumerGroup>(), nextId: 0 };
      this.#byTopic.set(topic.revision, entry);
    }
    return entry;
  }

  #index(topic: Topic, group: ConsumerGroup): void {
    const place = placeOf(topic, group);
    for (const { client } of group.members) {
      const places = this.#byClient.get(client) ?? new Map<string, GroupPlace>();
      this.#byClient.set(client, places.set(keyOf(place), place));
    }
  }

  #unindex(topic: Topic, group: ConsumerGroup | undefined): void {
    if (group === undefined) return;
    const key = keyOf(placeOf(topic, group));
    for (const { client } of group.members) {
      const places = this.#byClient.get(client);
      places?.delete(key);
      if (places?.size === 0) this.#byClient.delete(client);
    }
  }
}

/** Where a group of the topic is. */
export function placeOf(topic: Topic, group: ConsumerGroup): GroupPlace {
  return { streamId: topic.streamId, topicId: topic.id, groupId: group.id };
}

function keyOf({ streamId, topicId, groupId }: GroupPlace): string {
  return `${streamId}/${topicId}/${groupId}`;
}

function byPlace(one: GroupPlace, other: GroupPlace): number {
  return one.streamId - other.streamId || one.topicId - other.topicId || one.groupId - other.groupId;
}
