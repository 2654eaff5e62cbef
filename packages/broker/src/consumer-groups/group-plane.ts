import {
  EVERY_PARTITION,
  findPartition,
  type GroupPlace,
  type Metadata,
  type Topic,
} from "@millrace/metadata";
import type { Clock } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import type { MetadataRequest } from "../metadata-plane/metadata-request.ts";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import type { PartitionPlane } from "../partition-plane/partition-plane.ts";
import { packPartition } from "../routing/pack-partition.ts";
import { GoneGroups } from "./gone-groups.ts";
import { type HandOverFacts, HandOvers, type MembersNode } from "./hand-overs.ts";
import { PollGates } from "./poll-gates.ts";

/** What the plane is made from. */
export interface GroupPlaneOptions {
  readonly clock: Clock;
  readonly partitions: PartitionPlane;
  /** Milliseconds a hand-over may take. */
  readonly rebalancingTimeoutMs: number;
  /** What there is to know where members may be connected to other nodes; absent on a lone server. */
  readonly cluster?: MembersNode | undefined;
  catalog(): Metadata;
  submit(request: MetadataRequest): void;
}

/**
 * What a broker does for consumer groups beside the catalog: says what is in flight when somebody joins, sees
 * hand-overs to their end, and removes the offsets of groups that are gone.
 */
export class GroupPlane {
  /** Holds polls back while a join is on its way. */
  readonly gates = new PollGates();
  readonly #options: GroupPlaneOptions;
  readonly #handOvers: HandOvers;
  readonly #gone: GoneGroups;

  constructor(options: GroupPlaneOptions) {
    this.#options = options;
    this.#gone = new GoneGroups(options);
    this.#handOvers = new HandOvers({
      clock: options.clock,
      timeoutMs: options.rebalancingTimeoutMs,
      submit: options.submit,
      mayBeInFlight: (place, { partitionId, client }) => this.#mayBeInFlight(place, partitionId, client),
      cluster: options.cluster,
    });
  }

  #mayBeInFlight(place: GroupPlace, partitionId: number, client: bigint): boolean {
    const partition = this.#partitionAt(place, partitionId);
    if (!this.#isKnown(partition, place.groupId, client)) return true;
    return partition !== undefined && isInFlight(partition, place.groupId, client);
  }

  /** What a member was given is known where it polls, itself or by another connection of its program. */
  #isKnown(partition: PartitionHandle | undefined, groupId: number, client: bigint): boolean {
    const { cluster } = this.#options;
    if (cluster === undefined) return true;
    const where = partition?.polled.whereOf(groupId, client);
    if (where === "elsewhere") return false;
    if (cluster.isConnected(client)) return true;
    return where === "here" && partition?.isPrimary === true && cluster.isAttached(client);
  }

  /**
   * Partitions of a group whose owners have polled messages that are not committed. In a cluster all may be,
   * also those that this node has not heard of: an owner polls on the node it is connected to. Its node says
   * when they are not, once the join is executed there, at once when nothing was polled. So it is where there
   * is no such group yet: when the join is executed there may be one, and others may have polled.
   */
  inFlight(place: GroupPlace | undefined): readonly number[] {
    if (place === undefined || this.#options.cluster !== undefined) return [EVERY_PARTITION];
    const members = this.#options.catalog().findGroup(place)?.members ?? [];
    return members.flatMap(({ client, partitions }) =>
      partitions.filter((partitionId) => this.#mayBeInFlight(place, partitionId, client)),
    );
  }

  /** Members or their partitions changed. */
  changed(place: GroupPlace): void {
    const members = this.#options.catalog().findGroup(place)?.members ?? [];
    const pending = members.flatMap(({ slot, client, revocations }): HandOverFacts[] =>
      revocations.map((revocation) => ({ ...revocation, source: slot, client })),
    );
    const begun = this.#handOvers.follow(place, pending);
    for (const { partitionId } of begun) this.#handOvers.check(place, partitionId);
  }

  /** The group is gone: settles once no partition of its topic remembers an offset of it. */
  async deleted(place: GroupPlace): Promise<void> {
    this.#handOvers.follow(place, []);
    const topic = this.#topicOf(place);
    const removals = topic?.partitions.map(({ id }) => this.#removeOffset(place, id));
    await Promise.all(removals ?? []);
  }

  /** A group's offset of a partition was stored, or a read for it ended: its hand-over may be over. */
  settled(place: GroupPlace, partitionId: number): void {
    this.#handOvers.check(place, partitionId);
  }

  /** A partition was emptied: nothing of it is left to commit. */
  purged(identity: {
    readonly streamId: number;
    readonly topicId: number;
    readonly partitionId: number;
  }): void {
    const topic = this.#topicOf(identity);
    if (topic === undefined) return;
    this.#partitionOf(topic, identity.partitionId)?.polled.purged();
    for (const { id: groupId } of this.#options.catalog().groupsOf(topic).list()) {
      this.#handOvers.check({ streamId: topic.streamId, topicId: topic.id, groupId }, identity.partitionId);
    }
  }

  /**
   * Goes on where the last stop interrupted: pending hand-overs get their full time, since nobody remembers
   * what was polled, and offsets of groups that are gone are removed, from now on.
   */
  recover(): void {
    for (const stream of this.#options.catalog().streams()) {
      for (const topic of stream.topics.list()) this.#recoverTopic(topic);
    }
    this.#gone.start();
  }

  /** True when the partition's topic had a group of this id that was deleted. */
  isGone(identity: PartitionIdentity, groupId: number): boolean {
    return this.#gone.isGone(identity, groupId);
  }

  stop(): void {
    this.#gone.stop();
    this.#handOvers.stop();
  }

  #recoverTopic(topic: Topic): void {
    const { streamId, id: topicId } = topic;
    const groups = this.#options.catalog().groupsOf(topic);
    for (const { id: groupId, members } of groups.list()) {
      const pending = members.flatMap(({ slot, client, revocations }): HandOverFacts[] =>
        revocations.map((revocation) => ({ ...revocation, source: slot, client })),
      );
      this.#handOvers.follow({ streamId, topicId, groupId }, pending);
    }
  }

  #removeOffset(place: GroupPlace, partitionId: number): Promise<void> | undefined {
    const partition = this.#partitionAt(place, partitionId);
    return partition?.forgetGroup(place.groupId);
  }

  #partitionAt(place: GroupPlace, partitionId: number): PartitionHandle | undefined {
    const topic = this.#topicOf(place);
    return topic && this.#partitionOf(topic, partitionId);
  }

  #partitionOf(topic: Topic, partitionId: number): PartitionHandle | undefined {
    if (findPartition(topic, partitionId) === undefined) return undefined;
    return this.#options.partitions.get(packPartition(topic.streamId, topic.id, partitionId));
  }

  #topicOf({
    streamId,
    topicId,
  }: {
    readonly streamId: number;
    readonly topicId: number;
  }): Topic | undefined {
    const catalog = this.#options.catalog();
    const stream = catalog.findStream({ kind: "numeric", id: streamId });
    return stream && catalog.findTopic(stream, { kind: "numeric", id: topicId });
  }
}

/** Where damage hides what was committed, everything that was polled counts as open. */
function isInFlight(partition: PartitionHandle, groupId: number, client: bigint): boolean {
  return partition.polled.isInFlight(groupId, client, partition.groupOffset(groupId));
}
