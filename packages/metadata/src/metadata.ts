import type { Identifier } from "@millrace/protocol";
import { apply } from "./apply.ts";
import { Catalog } from "./catalog/catalog.ts";
import type { NamedSetView } from "./catalog/named-set.ts";
import type { Stream } from "./catalog/stream.ts";
import type { Topic } from "./catalog/topic.ts";
import type { User } from "./catalog/user.ts";
import type { TokenHolder, TokenName } from "./catalog/user-set.ts";
import type { ApplyResult, CommittedOp } from "./committed-op.ts";
import type { ConsumerGroup, GroupPlace } from "./consumer-groups/consumer-group.ts";
import { decodeSnapshot, encodeSnapshot } from "./snapshot/snapshot-codec.ts";

/** How much there is of everything. */
export interface MetadataCounts {
  readonly streams: number;
  readonly topics: number;
  readonly partitions: number;
  readonly users: number;
  readonly groups: number;
}

/**
 * The catalog of one replica: changed only by `apply`, asked by queries that never change anything.
 *
 * Streams, topics and users that queries return are never changed; a later op puts new ones in their place.
 */
export class Metadata {
  #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Last op that was applied; a snapshot taken now stands for everything up to it. */
  get appliedOp(): number {
    return this.#catalog.appliedOp;
  }

  /** Applies one committed op, deterministic and total; see `apply.ts`. */
  apply(op: CommittedOp): ApplyResult {
    return apply(this.#catalog, op);
  }

  /** Becomes what another catalog is, which is not used any more: a replica takes a peer's state. */
  become(other: Metadata): void {
    this.#catalog = other.#catalog;
  }

  /** Deterministic bytes of everything; see `snapshot/snapshot-codec.ts`. */
  encodeSnapshot(): Uint8Array {
    return encodeSnapshot(this.#catalog);
  }

  findStream(identifier: Identifier): Stream | undefined {
    return this.#catalog.streams.find(identifier);
  }

  findTopic(stream: Stream, identifier: Identifier): Topic | undefined {
    return stream.topics.find(identifier);
  }

  /** All streams by ascending id. */
  streams(): readonly Stream[] {
    return this.#catalog.streams.list();
  }

  /** The consumer groups of a topic. */
  groupsOf(topic: Topic): NamedSetView<ConsumerGroup> {
    return this.#catalog.groups.of(topic);
  }

  /** True for the id of a group that the topic had and has no more; no later one gets it. */
  isGroupGone(topic: Topic, groupId: number): boolean {
    const { groups } = this.#catalog;
    return groupId < groups.nextIdOf(topic) && groups.of(topic).byId(groupId) === undefined;
  }

  /** The group at a place. */
  findGroup({ streamId, topicId, groupId }: GroupPlace): ConsumerGroup | undefined {
    const topic = this.#catalog.streams.byId(streamId)?.topics.byId(topicId);
    return topic && this.#catalog.groups.of(topic).byId(groupId);
  }

  /** Groups a client is a member of, by ascending place. */
  membershipsOf(client: bigint): readonly GroupPlace[] {
    return this.#catalog.groups.membershipsOf(client);
  }

  /** Every client that is a member of a group. */
  groupClients(): Iterable<bigint> {
    return this.#catalog.groups.clients();
  }

  findUser(identifier: Identifier): User | undefined {
    return this.#catalog.users.find(identifier);
  }

  userById(id: number): User | undefined {
    return this.#catalog.users.byId(id);
  }

  userByName(name: string): User | undefined {
    return this.#catalog.users.byName(name);
  }

  /** All users by ascending id. */
  users(): readonly User[] {
    return this.#catalog.users.list();
  }

  /** Whose token has this digest, expired or not. */
  userByToken(digest: string): TokenHolder | undefined {
    return this.#catalog.users.byToken(digest);
  }

  /** Tokens that are no longer good, `countMax` at most; walks every user. */
  expiredTokens(nowMicros: number, countMax: number): readonly TokenName[] {
    return this.#catalog.users.expiredTokens(nowMicros, countMax);
  }

  /** Walks every topic; for statistics, not for every request. */
  counts(): MetadataCounts {
    let topics = 0;
    let partitions = 0;
    for (const stream of this.#catalog.streams.list()) {
      topics += stream.topics.size;
      for (const topic of stream.topics.list()) partitions += topic.partitions.length;
    }
    const { streams, users, groups } = this.#catalog;
    return { streams: streams.size, topics, partitions, users: users.size, groups: groups.count };
  }
}

/** An empty catalog, before op 1. */
export function createMetadata(): Metadata {
  return new Metadata(new Catalog());
}

/**
 * The catalog of a snapshot, ready for the op after `appliedOp`. Nothing of `bytes` is kept alive.
 * @throws CodedError MetadataDamaged with `details.position`; FormatTooNew
 */
export function restoreMetadata(bytes: Uint8Array): Metadata {
  return new Metadata(decodeSnapshot(bytes));
}
